# Draws a heat map. To draw it again, run gnuplot on this file in its own folder.
set encoding utf8
set terminal svg size 563.2,472 font 'sans-serif,14' noenhanced background rgb 'white'
set output 'sheet.svg'
set datafile separator ','
unset key
set palette defined (0 '#F7FBFF', 1 '#C6DBEF', 2 '#6BAED6', 3 '#2171B5', 4 '#08306B')
set cbrange [0:0.875]
set xrange [-0.5:2.5]
set x2range [-0.5:2.5]
set yrange [2.5:-0.5]
set border linecolor rgb '#888888'
unset xtics
set object rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#D9D9D9' fillstyle solid noborder
set ytics scale 0 textcolor rgb '#333333' font ',13' ('the' 0, 'harbour' 1, 'sea' 2)
set x2tics scale 0 textcolor rgb '#333333' font ',13' offset 0,-0.5 ('the' 0, 'harbour' 1, 'sea' 2)
set colorbox user vertical origin screen 0.861505682, screen 0.466101695 size screen 0.0319602273, screen 0.279661017
set cbtics scale 0 textcolor rgb '#333333' font ',12'
set label 'all heads' at screen 0.0852272727, screen 0.944915254 font ',17'
set label 'key position →' at screen 0.192826705, screen 0.877118644 font ',13'
set label '← query position' at screen 0.0355113636, screen 0.745762712 right rotate by 90 font ',13'
set multiplot
set label 100 'head 0' at screen 0.192826705, screen 0.809322034 font ',14'
set lmargin at screen 0.192826705
set rmargin at screen 0.427201705
set tmargin at screen 0.745762712
set bmargin at screen 0.466101695
finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'
plot 'sheet.csv' skip 1 every ::0::8 using 3:(finite(strcol(4)) ? $2 : NaN):(0.5):(0.5):4 with boxxyerror fillstyle solid border linecolor rgb 'white' fillcolor palette, \
     'sheet.csv' skip 1 every ::0::8 using 3:(finite(strcol(4)) ? $2 : NaN):(sprintf('%.2f', $4)):((($4 - 0) / 0.875) > 0.55 ? 0xFFFFFF : 0x222222) with labels font ',11' textcolor rgb variable
unset label
unset colorbox
set label 100 'head 1' at screen 0.580965909, screen 0.809322034 font ',14'
set lmargin at screen 0.580965909
set rmargin at screen 0.815340909
set tmargin at screen 0.745762712
set bmargin at screen 0.466101695
finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'
plot 'sheet.csv' skip 1 every ::9::17 using 3:(finite(strcol(4)) ? $2 : NaN):(0.5):(0.5):4 with boxxyerror fillstyle solid border linecolor rgb 'white' fillcolor palette, \
     'sheet.csv' skip 1 every ::9::17 using 3:(finite(strcol(4)) ? $2 : NaN):(sprintf('%.2f', $4)):((($4 - 0) / 0.875) > 0.55 ? 0xFFFFFF : 0x222222) with labels font ',11' textcolor rgb variable
set label 100 ' ' at screen 0.192826705, screen 0.389830508 font ',14'
set lmargin at screen 0.192826705
set rmargin at screen 0.427201705
set tmargin at screen 0.326271186
set bmargin at screen 0.0466101695
finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'
plot 'sheet.csv' skip 1 every ::18::26 using 3:(finite(strcol(4)) ? $2 : NaN):(0.5):(0.5):4 with boxxyerror fillstyle solid border linecolor rgb 'white' fillcolor palette, \
     'sheet.csv' skip 1 every ::18::26 using 3:(finite(strcol(4)) ? $2 : NaN):(sprintf('%.2f', $4)):((($4 - 0) / 0.875) > 0.55 ? 0xFFFFFF : 0x222222) with labels font ',11' textcolor rgb variable
unset multiplot
