#ifndef TARN_SHORTTEXT_H
#define TARN_SHORTTEXT_H

// tarn_short is the function of that name, as DuckDB calls it.
void tarn_short(void *info, void *input, void *output);

#endif
