# Draws a scatter plot. To draw it again, run gnuplot on this file in its own folder.
set encoding utf8
set terminal svg size 900,720 font 'sans-serif,14' noenhanced background rgb 'white'
set datafile separator ','
set output 'unlabelled.svg'
set lmargin at screen 0.06
set rmargin at screen 0.973333333
set tmargin at screen 0.891666667
set bmargin at screen 0.0555555556
set xrange [-1.36744186:4.36744186]
set yrange [0.025:4.225]
set border linecolor rgb '#BBBBBB'
set tics nomirror out scale 0.5 font ',12' textcolor rgb '#666666'
set key at screen 0.5, screen 0.922222222 center center horizontal Left reverse samplen 1
plot 'unlabelled.csv' skip 1 using 1:($3 == 0 ? $2 : NaN) with points pointtype 7 pointsize 0.9 linecolor rgb '#0072B2' notitle
