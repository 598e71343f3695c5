// Line comments, block comments, and block comments in block comments.
/* one */ def A; /* two
   lines /* inside */ still outside
*/ def B; // after
