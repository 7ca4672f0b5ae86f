# Draws a heat map. To draw it again, run gnuplot on this file in its own folder.
set encoding utf8
set terminal svg size 448,356 font 'sans-serif,14' noenhanced background rgb 'white'
set output 'named.svg'
set datafile separator ','
unset key
set lmargin at screen 0.254464286
set rmargin at screen 0.754464286
set tmargin at screen 0.539325843
set bmargin at screen 0.0674157303
set label 'layer 0, head 1 (3, 4)' at screen 0.5, screen 0.93258427 center font ',17'
set label 'key position' at screen 0.504464286, screen 0.848314607 center
set label 'query position' at screen 0.0446428571, screen 0.303370787 center rotate by 90
set palette defined (0 '#F7FBFF', 1 '#C6DBEF', 2 '#6BAED6', 3 '#2171B5', 4 '#08306B')
set cbrange [0:1]
set xrange [-0.5:3.5]
set x2range [-0.5:3.5]
set yrange [2.5:-0.5]
set border linecolor rgb '#888888'
unset xtics
set object rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#D9D9D9' fillstyle solid noborder
set colorbox user vertical origin screen 0.794642857, screen 0.0674157303 size screen 0.0401785714, screen 0.471910112
set cbtics scale 0 textcolor rgb '#333333' font ',12'
set x2tics scale 0 textcolor rgb '#333333' font ',14' rotate by 90 left ('a' 0, 'long name' 1, 'b' 2, ' ' 3)
set ytics scale 0 textcolor rgb '#333333' font ',14' ('the' 0, 'harbour' 1, 'sea' 2)
finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'
plot 'named.csv' skip 1 using 2:(finite(strcol(3)) ? $1 : NaN):(0.5):(0.5):3 with boxxyerror fillstyle solid border linecolor rgb 'white' fillcolor palette, \
     'named.csv' skip 1 using 2:(finite(strcol(3)) ? $1 : NaN):(sprintf('%.2f', $3)):((($3 - 0) / 1) > 0.55 ? 0xFFFFFF : 0x222222) with labels font ',12' textcolor rgb variable
