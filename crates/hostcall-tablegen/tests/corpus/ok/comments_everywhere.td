// Comments between any two tokens.
class /*a*/ A /*b*/ < /*c*/ int /*d*/ x /*e*/ = /*f*/ 1 /*g*/ > /*h*/ { /*i*/ int /*j*/ X /*k*/ = /*l*/ x /*m*/ ; /*n*/ } // o
def /*p*/ D /*q*/ : /*r*/ A /*s*/ < /*t*/ 2 /*u*/ > /*v*/ ; /*w*/
