# Draws a scatter plot. To draw it again, run gnuplot on this file in its own folder.
set encoding utf8
set terminal svg size 900,720 font 'sans-serif,14' noenhanced background rgb 'white'
set datafile separator ','
set output 'scatter.svg'
set label 'layer 0, head 1' at screen 0.5, screen 0.966666667 center font ',17'
set lmargin at screen 0.06
set rmargin at screen 0.973333333
set tmargin at screen 0.891666667
set bmargin at screen 0.0555555556
set xrange [-1.36744186:4.36744186]
set yrange [0.025:4.225]
set border linecolor rgb '#BBBBBB'
set tics nomirror out scale 0.5 font ',12' textcolor rgb '#666666'
set key at screen 0.5, screen 0.922222222 center center horizontal Left reverse samplen 1
set label 'it''s' at screen 0.287222222, screen 0.100347222 left front font ',13' textcolor rgb '#0072B2'
set label '<5 %s' at screen 0.765, screen 0.199884259 left front font ',13' textcolor rgb '#0072B2'
set label 'a,"b"' at screen 0.446481481, screen 0.846875 left front font ',13' textcolor rgb '#D55E00'
set label 'sea' at screen 0.68537037, screen 0.49849537 left front font ',13' textcolor rgb '#D55E00'
plot 'scatter.csv' skip 1 using 1:($3 == 0 ? $2 : NaN) with points pointtype 7 pointsize 0.9 linecolor rgb '#0072B2' title 'query', \
     'scatter.csv' skip 1 using 1:($3 == 1 ? $2 : NaN) with points pointtype 9 pointsize 0.9 linecolor rgb '#D55E00' title 'key'
