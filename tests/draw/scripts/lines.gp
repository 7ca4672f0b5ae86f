# Draws curves. To draw them again, run gnuplot on this file in its own folder.
set encoding utf8
set terminal svg size 900,540 font 'sans-serif,14' noenhanced background rgb 'white'
set datafile separator ','
set output 'lines.svg'
set title 'harbour.txt' font ',17' offset 0,-0.3
set xlabel 'step'
set ylabel 'loss (nats per character)'
set xrange [0:400]
set yrange [0.92:9.83]
set border 3 linecolor rgb '#888888'
set tics nomirror out scale 0.6 textcolor rgb '#333333'
set grid linetype 1 linewidth 0.8 linecolor rgb '#E4E4E4'
set rmargin 9
set key top right Left reverse samplen 2.5 spacing 1.25 width 1 height 0.4
set label '1.9069' at graph 1, first 1.90686275 left offset 0.8,0 font ',14' textcolor rgb '#D55E00'
plot 'lines.csv' skip 1 using 1:2 with lines linewidth 1.2 linecolor rgb '#56B4E9' title 'training', \
     'lines.csv' skip 1 using 1:3 with linespoints linewidth 2 pointtype 7 pointsize 0.7 linecolor rgb '#D55E00' title 'validation', \
     1.25 with lines linewidth 1.5 dashtype 2 linecolor rgb '#555555' title 'entropy rate  1.2500', \
     3.5 with lines linewidth 1.5 dashtype 3 linecolor rgb '#555555' title 'uniform  3.5000'
