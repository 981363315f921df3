package duck

// Values are a column of a chunk, of integers or of text. They are usable until the chunk is closed or given away.
type Values struct{ column }

// Values returns the i-th column.
func (ch *Chunk) Values(i int) Values { return Values{columnOf(ch.handle, i, ch.Rows())} }

// IsNull says whether a row has no value.
func (v Values) IsNull(row int) bool { return !v.isValid(row) }

// Integer returns the value of a row that has one, of a column of integers of up to 64 bits.
func (v Values) Integer(row int) int64 { return v.integer(row) }

// Longs returns the values of a column of BIGINT; those of rows without one mean nothing.
func (v Values) Longs() []int64 { return values[int64](v.column) }
