# Draws a heat map. To draw it again, run gnuplot on this file in its own folder.
set encoding utf8
set terminal svg size 718,490 font 'sans-serif,14' noenhanced background rgb 'white'
set output 'diverging.svg'
set datafile separator ','
unset key
set lmargin at screen 0.0891364903
set rmargin at screen 0.846796657
set tmargin at screen 0.897959184
set bmargin at screen 0.0489795918
set palette defined (0 '#2166AC', 1 '#92C5DE', 2 '#F7F7F7', 3 '#F4A582', 4 '#B2500B')
set cbrange [-0.71875:0.71875]
set xrange [-0.5:16.5]
set x2range [-0.5:16.5]
set yrange [12.5:-0.5]
set border linecolor rgb '#888888'
unset xtics
set object rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#D9D9D9' fillstyle solid noborder
set colorbox user vertical origin screen 0.871866295, screen 0.0489795918 size screen 0.0250696379, screen 0.848979592
set cbtics scale 0 textcolor rgb '#333333' font ',12'
set x2tics scale 0 textcolor rgb '#333333' font ',12'
set ytics scale 0 textcolor rgb '#333333' font ',12'
finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'
plot 'diverging.csv' skip 1 using 2:(finite(strcol(3)) ? $1 : NaN):(0.5):(0.5):3 with boxxyerror fillstyle solid border linecolor rgb 'white' fillcolor palette
