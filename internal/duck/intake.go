package duck

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// intake is how values of an Arrow type come into vectors of a DuckDB type that holds each of them as it is.
type intake struct {
	typ  bindings.LogicalType
	fill fillFunc
}

func (in *intake) destroy() { bindings.DestroyLogicalType(&in.typ) }

// plainTypes are the Arrow types without parameters. Of TIMESTAMP_S and the like DuckDB keeps the same numbers as Arrow.
var plainTypes = map[arrow.Type]struct {
	typ  bindings.Type
	fill fillFunc
}{
	arrow.NULL: {bindings.TypeSQLNull, fillNothing},
	arrow.BOOL: {bindings.TypeBoolean, fillBooleans},
	arrow.INT8: {bindings.TypeTinyInt, fillSame[int8]}, arrow.INT16: {bindings.TypeSmallInt, fillSame[int16]},
	arrow.INT32: {bindings.TypeInteger, fillSame[int32]}, arrow.INT64: {bindings.TypeBigInt, fillSame[int64]},
	arrow.UINT8: {bindings.TypeUTinyInt, fillSame[uint8]}, arrow.UINT16: {bindings.TypeUSmallInt, fillSame[uint16]},
	arrow.UINT32: {bindings.TypeUInteger, fillSame[uint32]}, arrow.UINT64: {bindings.TypeUBigInt, fillSame[uint64]},
	arrow.FLOAT16: {bindings.TypeFloat, fillHalves},
	arrow.FLOAT32: {bindings.TypeFloat, fillSame[float32]}, arrow.FLOAT64: {bindings.TypeDouble, fillSame[float64]},
	arrow.STRING: {bindings.TypeVarchar, fillTexts}, arrow.LARGE_STRING: {bindings.TypeVarchar, fillTexts},
	arrow.STRING_VIEW: {bindings.TypeVarchar, fillTexts},
	arrow.BINARY:      {bindings.TypeBlob, fillBytes}, arrow.LARGE_BINARY: {bindings.TypeBlob, fillBytes},
	arrow.BINARY_VIEW: {bindings.TypeBlob, fillBytes}, arrow.FIXED_SIZE_BINARY: {bindings.TypeBlob, fillBytes},
	arrow.DATE32: {bindings.TypeDate, fillConverted(dateOfDays)}, arrow.DATE64: {bindings.TypeDate, fillConverted(dateOfMillis)},
	arrow.INTERVAL_MONTHS:         {bindings.TypeInterval, fillConverted(intervalOfMonths)},
	arrow.INTERVAL_DAY_TIME:       {bindings.TypeInterval, fillConverted(intervalOfDays)},
	arrow.INTERVAL_MONTH_DAY_NANO: {bindings.TypeInterval, fillConverted(intervalOfAll)},
}

// intakeOf returns the intake of a type, which the caller destroys. An error is Unsupported.
func intakeOf(t arrow.DataType) (intake, error) {
	if plain, ok := plainTypes[t.ID()]; ok {
		return intake{bindings.CreateLogicalType(plain.typ), plain.fill}, nil
	}
	switch t := t.(type) {
	case arrow.DecimalType:
		return decimalIntake(t)
	case *arrow.Time32Type:
		return intakeAs(bindings.TypeTime, fillConverted(timeOf(int32(unitsPerSecond(t.Unit)))))
	case *arrow.Time64Type:
		if t.Unit == arrow.Nanosecond {
			return intakeAs(bindings.TypeTimeNS, fillConverted(timeOf(unitsPerSecond(t.Unit))))
		}
		return intakeAs(bindings.TypeTime, fillConverted(timeOf(unitsPerSecond(t.Unit))))
	case *arrow.TimestampType:
		return timestampIntake(t)
	case *arrow.DurationType:
		return intakeAs(bindings.TypeInterval, fillConverted(intervalOfUnits(t.Unit)))
	case *arrow.DictionaryType:
		return wrapped(t.ValueType, throughDictionary)
	case *arrow.RunEndEncodedType:
		return wrapped(t.Encoded(), throughRuns)
	case arrow.ExtensionType:
		return extensionIntake(t)
	case *arrow.MapType:
		return mapIntake(t)
	case *arrow.FixedSizeListType:
		return arrayIntake(t)
	case arrow.ListLikeType:
		return listIntake(t.Elem())
	case *arrow.StructType:
		return structIntake(t)
	case arrow.UnionType:
		return unionIntake(t)
	}
	return intake{}, refuseType("values of Arrow's type %s can't be read", t)
}

// refuseType returns the error of a type that DuckDB has none for.
func refuseType(format string, args ...any) error {
	return errs.New(errs.Unsupported, "", "", format, args...)
}

// intakeAs returns the intake of a plain type.
func intakeAs(id bindings.Type, fill fillFunc) (intake, error) {
	return intake{bindings.CreateLogicalType(id), fill}, nil
}

// timestampIntake: without a zone the number stays what it is. TIMESTAMPTZ counts microseconds, whatever the file does.
func timestampIntake(t *arrow.TimestampType) (intake, error) {
	if t.TimeZone != "" {
		return intakeAs(bindings.TypeTimestampTZ, fillConverted(microsOf(t.Unit)))
	}
	id := map[arrow.TimeUnit]bindings.Type{
		arrow.Second: bindings.TypeTimestampS, arrow.Millisecond: bindings.TypeTimestampMS,
		arrow.Microsecond: bindings.TypeTimestamp, arrow.Nanosecond: bindings.TypeTimestampNS,
	}[t.Unit]
	return intakeAs(id, fillSame[int64])
}

// wrapped is the intake of values that lie behind something that says which.
func wrapped(values arrow.DataType, through func(fillFunc) fillFunc) (intake, error) {
	in, err := intakeOf(values)
	if err == nil {
		in.fill = through(in.fill)
	}
	return in, err
}

// extensionIntake: types that others made are what they are stored as, as Arrow's specification has it.
func extensionIntake(t arrow.ExtensionType) (intake, error) {
	switch t.ExtensionName() {
	case "arrow.uuid":
		return intakeAs(bindings.TypeUUID, throughStorage(fillUUIDs))
	case "arrow.bool8":
		return intakeAs(bindings.TypeBoolean, throughStorage(fillConverted(func(v int8) (bool, error) { return v != 0, nil })))
	}
	return wrapped(t.StorageType(), throughStorage)
}

// maxDigits is how many digits DuckDB's decimals have.
const maxDigits = 38

// decimalIntake: a scale beyond the digits stands for zeros behind the point, which DuckDB counts as digits.
func decimalIntake(t arrow.DecimalType) (intake, error) {
	digits := max(t.GetPrecision(), t.GetScale())
	if t.GetScale() < 0 || t.GetPrecision() < 1 || digits > maxDigits {
		return intake{}, refuseType("%s isn't a decimal of up to %d digits, some of them behind the point", t, maxDigits)
	}
	fill := fillDecimals(t.GetPrecision(), digits)
	return intake{bindings.CreateDecimalType(uint8(digits), uint8(t.GetScale())), fill}, nil
}

func listIntake(t arrow.DataType) (intake, error) {
	elem, err := intakeOf(t)
	if err != nil {
		return intake{}, err
	}
	defer elem.destroy()
	return intake{bindings.CreateListType(elem.typ), fillLists(elem.fill)}, nil
}

// maxArray is how many elements a DuckDB array may have; longer ones are lists. Those without any don't get so far: package arrowfile
// refuses them.
const maxArray = 100_000

func arrayIntake(t *arrow.FixedSizeListType) (intake, error) {
	if t.Len() > maxArray {
		return listIntake(t.Elem())
	}
	elem, err := intakeOf(t.Elem())
	if err != nil {
		return intake{}, err
	}
	defer elem.destroy()
	return intake{bindings.CreateArrayType(elem.typ, bindings.IdxT(t.Len())), fillArrays(int(t.Len()), elem.fill)}, nil
}

func mapIntake(t *arrow.MapType) (intake, error) {
	types, fills, err := intakesOf([]arrow.Field{t.KeyField(), t.ItemField()})
	defer destroyTypes(types)
	if err != nil {
		return intake{}, err
	}
	return intake{bindings.CreateMapType(types[0], types[1]), fillLists(fillEntries(fills))}, nil
}

func structIntake(t *arrow.StructType) (intake, error) {
	if t.NumFields() == 0 {
		return intake{}, refuseType("a struct without fields can't be read")
	}
	names, types, fills, err := membersOf(t.Fields())
	defer destroyTypes(types)
	if err != nil {
		return intake{}, err
	}
	return intake{bindings.CreateStructType(types, names), fillStructs(fills)}, nil
}

// maxMembers is how many members a DuckDB union may have.
const maxMembers = 256

func unionIntake(t arrow.UnionType) (intake, error) {
	if t.NumFields() == 0 || t.NumFields() > maxMembers {
		return intake{}, refuseType("a union of %d members can't be read", t.NumFields())
	}
	names, types, fills, err := membersOf(t.Fields())
	defer destroyTypes(types)
	if err != nil {
		return intake{}, err
	}
	return intake{bindings.CreateUnionType(types, names), fillUnions(t.ChildIDs(), fills)}, nil
}

// membersOf returns the names of a struct's or a union's members, and of their types and filling what intakesOf does.
func membersOf(fields []arrow.Field) (names []string, types []bindings.LogicalType, fills []fillFunc, err error) {
	if names, err = memberNamesOf(fields); err != nil {
		return nil, nil, nil, err
	}
	types, fills, err = intakesOf(fields)
	return names, types, fills, err
}

// intakesOf returns the types of fields, which the caller destroys even after an error, and how they are filled.
func intakesOf(fields []arrow.Field) (types []bindings.LogicalType, fills []fillFunc, err error) {
	for _, f := range fields {
		in, err := intakeOf(f.Type)
		if err != nil {
			return types, nil, errs.Wrap(errs.Unsupported, "", f.Name, err)
		}
		types, fills = append(types, in.typ), append(fills, in.fill)
	}
	return types, fills, nil
}

func destroyTypes(types []bindings.LogicalType) {
	for i := range types {
		bindings.DestroyLogicalType(&types[i])
	}
}

// memberNamesOf returns the names of a struct's or a union's members, which DuckDB tells apart by more than letter case.
func memberNamesOf(fields []arrow.Field) ([]string, error) {
	names, seen := make([]string, len(fields)), map[string]bool{}
	for i, f := range fields {
		if err := checkName(f.Name); err != nil {
			return nil, err
		}
		low := strings.ToLower(f.Name)
		if f.Name == "" || seen[low] {
			return nil, refuseType("members of a struct or a union need names that differ in more than letter case, and %q isn't one", f.Name)
		}
		names[i], seen[low] = f.Name, true
	}
	return names, nil
}

// checkName refuses names that DuckDB would cut or can't show.
func checkName(name string) error {
	if strings.ContainsRune(name, 0) || !utf8.ValidString(name) {
		return refuseType("the name %q has a NUL or bytes that aren't UTF-8", name)
	}
	return nil
}

// interval is DuckDB's INTERVAL.
type interval struct {
	months, days int32
	micros       int64
}

func intervalOfMonths(v arrow.MonthInterval) (interval, error) {
	return interval{months: int32(v)}, nil
}

func intervalOfDays(v arrow.DayTimeInterval) (interval, error) {
	return interval{days: v.Days, micros: int64(v.Milliseconds) * 1000}, nil
}

func intervalOfAll(v arrow.MonthDayNanoInterval) (interval, error) {
	micros, err := microsOf(arrow.Nanosecond)(arrow.Timestamp(v.Nanoseconds))
	return interval{v.Months, v.Days, micros}, err
}

func intervalOfUnits(unit arrow.TimeUnit) func(arrow.Duration) (interval, error) {
	micros := microsOf(unit)
	return func(v arrow.Duration) (interval, error) {
		n, err := micros(arrow.Timestamp(v))
		return interval{micros: n}, err
	}
}

// unitsPerSecond returns how many of a unit are a second.
func unitsPerSecond(unit arrow.TimeUnit) int64 {
	return map[arrow.TimeUnit]int64{arrow.Second: 1, arrow.Millisecond: 1e3, arrow.Microsecond: 1e6, arrow.Nanosecond: 1e9}[unit]
}

// microsOf returns what makes microseconds of a number of units.
func microsOf(unit arrow.TimeUnit) func(arrow.Timestamp) (int64, error) {
	const micros = 1_000_000
	per := unitsPerSecond(unit)
	return func(v arrow.Timestamp) (int64, error) {
		n := int64(v)
		if per > micros {
			if n%(per/micros) != 0 {
				return 0, errs.New(errs.Unsupported, "", "", "%d nanoseconds aren't whole microseconds, which are all that the type has", n)
			}
			return n / (per / micros), nil
		}
		if factor := micros / per; n <= math.MaxInt64/factor && n >= math.MinInt64/factor {
			return n * factor, nil
		}
		return 0, errs.New(errs.Unsupported, "", "", "%d is more than there can be microseconds of", n)
	}
}

// timeOf returns what makes a TIME, or TIME_NS of nanoseconds, of so many units a second.
func timeOf[T int32 | int64](per T) func(T) (int64, error) {
	const secondsADay, micros = 24 * 60 * 60, 1_000_000
	return func(v T) (int64, error) {
		n := int64(v)
		if n < 0 || n > secondsADay*int64(per) {
			return 0, errs.New(errs.Corrupt, "", "", "a time of %d isn't within a day", n)
		}
		return n * max(1, micros/int64(per)), nil
	}
}

// dateOfDays: DuckDB has no day with the least number, and takes the greatest and its opposite for infinity, as in Parquet files.
func dateOfDays(v arrow.Date32) (int32, error) {
	if v == math.MinInt32 {
		return 0, errs.New(errs.Unsupported, "", "", "there is no date %d days from 1970", v)
	}
	return int32(v), nil
}

func dateOfMillis(v arrow.Date64) (int32, error) {
	const day = 24 * 60 * 60 * 1000
	switch days := int64(v) / day; {
	case int64(v)%day != 0:
		return 0, errs.New(errs.Unsupported, "", "", "a date of %d milliseconds isn't a whole day", v)
	case days > math.MaxInt32-1 || days < -math.MaxInt32+1:
		return 0, errs.New(errs.Unsupported, "", "", "there is no date %d days from 1970", days)
	default:
		return int32(days), nil
	}
}

// arrowColumn is a column of an Arrow file.
type arrowColumn struct {
	name, typ string
	fill      fillFunc
}

// arrowColumns returns the columns of a schema, and their types, which the caller destroys even after an error.
func arrowColumns(schema *arrow.Schema) (columns []arrowColumn, types []bindings.LogicalType, err error) {
	if schema.NumFields() == 0 {
		return nil, nil, errs.New(errs.Unsupported, "", "", "it has no columns")
	}
	for i, name := range uniqueNames(schema.Fields()) {
		in, err := intakeOf(schema.Field(i).Type)
		if err == nil {
			types = append(types, in.typ)
			err = checkName(name)
		}
		if err != nil {
			return nil, types, errs.Wrap(errs.Unsupported, "", fmt.Sprintf("column %q", name), err)
		}
		columns = append(columns, arrowColumn{name, typeName(in.typ), in.fill})
	}
	return columns, types, nil
}

// uniqueNames returns the names of columns. One that was there before, in any letter case, gets a number, as those of Parquet
// files do in DuckDB.
func uniqueNames(fields []arrow.Field) []string {
	names, used := make([]string, len(fields)), map[string]int{}
	for i, f := range fields {
		name := f.Name
		for n, ok := used[strings.ToLower(name)]; ok; n, ok = used[strings.ToLower(name)] {
			used[strings.ToLower(name)]++
			name = fmt.Sprintf("%s_%d", name, n)
		}
		used[strings.ToLower(name)] = 1
		names[i] = name
	}
	return names
}
