#ifndef TARN_SHORTTEXT_H
#define TARN_SHORTTEXT_H

// The functions of these names, as DuckDB calls them.
void tarn_short_8(void *info, void *input, void *output);
void tarn_short_12(void *info, void *input, void *output);
void tarn_short_text_8(void *info, void *input, void *output);
void tarn_short_text_12(void *info, void *input, void *output);

#endif
