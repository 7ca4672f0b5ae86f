# Draws a heat map. To draw it again, run gnuplot on this file in its own folder.
set encoding utf8
set terminal svg size 760,416 font 'sans-serif,14' noenhanced background rgb 'white'
set output 'pooled.svg'
set datafile separator ','
unset key
set palette defined (0 '#F7FBFF', 1 '#C6DBEF', 2 '#6BAED6', 3 '#2171B5', 4 '#08306B')
set cbrange [0.59375:0.96875]
set xrange [-0.5:69.5]
set x2range [-0.5:69.5]
set yrange [74.5:-0.5]
set border linecolor rgb '#888888'
unset xtics
set object rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#D9D9D9' fillstyle solid noborder
set ytics scale 0 textcolor rgb '#333333' font ',12'
set x2tics scale 0 textcolor rgb '#333333' font ',12' offset 0,-0.5
set colorbox user vertical origin screen 0.897368421, screen 0.0528846154 size screen 0.0236842105, screen 0.721153846
set cbtics scale 0 textcolor rgb '#333333' font ',12'
set label 'each cell: maximum of 2 x 2' at screen 0.0236842105, screen 0.9375 font ',17'
set multiplot
set label 100 'a' at screen 0.0578947368, screen 0.846153846 font ',14'
set lmargin at screen 0.0578947368
set rmargin at screen 0.426315789
set tmargin at screen 0.774038462
set bmargin at screen 0.0528846154
finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'
plot 'pooled.csv' skip 1 every ::0::5249 using 3:(finite(strcol(4)) ? $2 : NaN):(0.5):(0.5):4 with boxxyerror fillstyle solid noborder fillcolor palette
unset label
unset colorbox
set label 100 'b' at screen 0.494736842, screen 0.846153846 font ',14'
set lmargin at screen 0.494736842
set rmargin at screen 0.863157895
set tmargin at screen 0.774038462
set bmargin at screen 0.0528846154
finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'
plot 'pooled.csv' skip 1 every ::5250::10499 using 3:(finite(strcol(4)) ? $2 : NaN):(0.5):(0.5):4 with boxxyerror fillstyle solid noborder fillcolor palette
unset multiplot
