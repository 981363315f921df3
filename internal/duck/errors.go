package duck

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// report is an error of DuckDB's.
type report struct {
	Type     string `json:"exception_type"`
	Message  string `json:"exception_message"`
	Subtype  string `json:"error_subtype"`
	Entry    string `json:"type"`     // what kind of thing is missing from the catalog
	Name     string `json:"name"`     // of the missing column or entry
	Position string `json:"position"` // in the statement, in characters
}

// kinds maps DuckDB's exception types to ours. Those that are missing are bugs, DuckDB's or our own.
var kinds = map[string]errs.Kind{
	"Parser": errs.Syntax, "Syntax": errs.Syntax,
	"Out of Memory": errs.Resource,
	"INTERRUPT":     errs.Canceled,
	"Catalog":       errs.Invalid, "Binder": errs.Invalid, "Planner": errs.Invalid,
	"Conversion": errs.Invalid, "Out of Range": errs.Invalid, "Divide by Zero": errs.Invalid, "Decimal": errs.Invalid,
	"Mismatch Type": errs.Invalid, "Invalid type": errs.Invalid, "Unknown Type": errs.Invalid, "Invalid": errs.Invalid,
	"Invalid Input": errs.Invalid, "Constraint": errs.Invalid, "Expression": errs.Invalid, "Sequence": errs.Invalid,
	"Settings": errs.Invalid, "Invalid Configuration": errs.Invalid, "Permission": errs.Invalid, "Object Size": errs.Invalid,
	"Parameter Not Resolved": errs.Invalid, "Parameter Not Allowed": errs.Invalid, "Dependency": errs.Invalid,
	"TransactionContext": errs.Invalid, "Serialization": errs.Invalid,
	"Not implemented": errs.Unsupported, "Missing Extension": errs.Unsupported, "Autoload": errs.Unsupported,
	"HTTP": errs.Unsupported, "Network": errs.Unsupported,
	"IO": errs.Corrupt,
}

// readReport takes apart what DuckDB says: JSON, mostly, perhaps after "Binder Error: " or "Failed to append: ", or a line
// "Binder Error: ...".
func readReport(text string) report {
	if at := strings.Index(text, "{"); at == 0 || at > 0 && strings.HasSuffix(text[:at], ": ") {
		var r report
		if json.Unmarshal([]byte(text[at:]), &r) == nil && r.Type != "" {
			return r
		}
	}
	if typ, message, ok := strings.Cut(text, " Error: "); ok && !strings.ContainsAny(typ, "\n:") {
		return report{Type: typ, Message: message}
	}
	return report{Message: text}
}

// fault returns the error that DuckDB reports by text, when it was asked to op.
func fault(op, text string) error {
	if failure, ok := ownFailure(text); ok {
		return failure
	}
	return readReport(text).fault(op)
}

// ownFailure returns the error of ours that DuckDB's text is about.
func ownFailure(text string) (*errs.Error, bool) {
	if failure, ok := checkFailure(text); ok {
		return failure, true
	}
	return carried(text)
}

func (r report) fault(op string) error {
	if strings.HasPrefix(r.Message, tooLong) {
		return newTooLong(r.err(op), r.Message)
	}
	return r.err(op)
}

// memoryHint says what helps a statement that has used up its memory.
const memoryHint = "raise the memory limit (--memory), run fewer threads (--threads) or smaller packs (tarn.pack_bytes = 0), or give more temporary space (--temp)"

func (r report) err(op string) *errs.Error {
	text, hint := r.advice(r.tidy())
	e := errs.New(r.kind(), op, r.file(), "%s", text)
	e.Hint = hint
	if r.isNoMemory() {
		e.Msg = "out of memory: " + e.Msg
		return e.WithHint("%s", memoryHint)
	}
	return e
}

// typeNamesOf are the exception types by the numbers that some calls give in place of a name.
var typeNamesOf = map[bindings.ErrorType]string{
	bindings.ErrorTypeOutOfMemory: "Out of Memory", bindings.ErrorTypeInterrupt: "INTERRUPT", bindings.ErrorTypeCatalog: "Catalog",
	bindings.ErrorTypeInvalidInput: "Invalid Input", bindings.ErrorTypeErrorIO: "IO", bindings.ErrorTypeConversion: "Conversion",
	bindings.ErrorTypeOutOfRange: "Out of Range", bindings.ErrorTypeConstraint: "Constraint",
	bindings.ErrorTypeNotImplemented: "Not implemented", bindings.ErrorTypeInvalidType: "Invalid type",
}

// faultData is fault of an error object; nil when there is no error in it.
func faultData(op string, data bindings.ErrorData) error {
	if data.Ptr == nil || !bindings.ErrorDataHasError(data) {
		return nil
	}
	text := bindings.ErrorDataMessage(data)
	r := readReport(text)
	if r.Type == "" {
		r.Type = typeNamesOf[bindings.ErrorDataErrorType(data)]
	}
	if failure, ok := ownFailure(text); ok {
		return failure
	}
	return r.fault(op)
}

// faultOf is fault during a call with ctx: an interrupt is the end of ctx.
func faultOf(ctx context.Context, op, text string) error {
	if ctx.Err() != nil && readReport(text).Type == "INTERRUPT" {
		return canceled(ctx)
	}
	return fault(op, text)
}

// canceled is the error of a call whose ctx has ended: Canceled, or Resource when its time was up.
func canceled(ctx context.Context) error {
	cause := context.Cause(ctx)
	kind := errs.KindOf(cause)
	if kind != errs.Resource {
		kind = errs.Canceled
	}
	return &errs.Error{Kind: kind, Op: "run statement", Err: cause}
}

// isNoMemory says whether DuckDB's memory, or that of one of our functions, was used up.
func (r report) isNoMemory() bool {
	return r.Type == "Out of Memory" || strings.HasPrefix(r.Message, noRoom)
}

func (r report) kind() errs.Kind {
	kind := kinds[r.Type]
	switch {
	case strings.HasPrefix(r.Message, bugMark):
		return errs.Internal
	case r.isNoMemory():
		return errs.Resource
	case r.Subtype == "COLUMN_NOT_FOUND", r.Subtype == "MISSING_ENTRY" && r.Entry == "Table", r.isMissingName():
		return errs.NotFound
	case strings.HasSuffix(r.Message, "an explicit cast is required"): // of values in one column, and of "Not implemented"
		return errs.Invalid
	case kind == errs.Invalid && corruptSigns.MatchString(r.wording()):
		return errs.Corrupt
	case r.Type == "IO":
		return r.fileKind()
	}
	return kind
}

// isMissingName finds the errors about missing columns and tables that DuckDB gives no subtype.
func (r report) isMissingName() bool {
	return r.Type == "Binder" && (strings.Contains(r.Message, "does not have a column named") ||
		strings.HasPrefix(r.Message, "Referenced table")) ||
		r.Type == "Catalog" && strings.HasPrefix(r.Message, "Table ") && strings.Contains(r.Message, "could not be found")
}

// corruptSigns are how DuckDB words that a Parquet file isn't what it should be, under types that it uses for users' own
// mistakes too.
var corruptSigns = regexp.MustCompile(`(?i)magic bytes|while reading file|failed to read file|decode bit width|parquet file|invalid parquet|not a parquet|` +
	`footer length|TProtocol|don't know what type|decompression fail|decompress|corrupt|out of buffer`)

// quotedParts are the values and names in a message: a quote that isn't the end of a word begins one, and one that isn't before a
// word ends it.
var quotedParts = regexp.MustCompile(`(?s)\B'.*?'\B|\B".*?"\B`)

// wording returns DuckDB's own words in a message: without values and names, which may be worded like an error, and the lines
// below, in which some errors show a value again.
func (r report) wording() string {
	words, _, _ := strings.Cut(quotedParts.ReplaceAllString(r.Message, "''"), "\n")
	return words
}

// ioSigns tell IO errors that aren't damage by their words.
var ioSigns = []struct {
	kind  errs.Kind
	signs *regexp.Regexp
}{
	{errs.Resource, regexp.MustCompile(`No space left|Disk quota|Too many open files|temp_directory|temporary file`)},
	{errs.NotFound, regexp.MustCompile(`No files found|No such file`)},
	{errs.Invalid, regexp.MustCompile(`Permission denied|Is a directory|Read-only file system`)},
}

// fileKind sorts IO errors: what isn't damage is want of space, a missing file, or a refusal.
func (r report) fileKind() errs.Kind {
	for _, s := range ioSigns {
		if s.signs.MatchString(r.wording()) {
			return s.kind
		}
	}
	return errs.Corrupt
}

// fileNames find the file that a message is about.
var fileNames = regexp.MustCompile(`(?i)(?:file|pattern|path)[^'"\n]{0,12}["']([^"'\n]+)["']`)

// file returns the file that the error is about, or "".
func (r report) file() string {
	if kind := r.kind(); kind != errs.Corrupt && r.Type != "IO" {
		return ""
	}
	if m := fileNames.FindStringSubmatch(r.Message); m != nil {
		return plainSigns.Replace(m[1])
	}
	return ""
}

// plainSigns undoes globSigns.
var plainSigns = strings.NewReplacer("[*]", "*", "[?]", "?", "[[]", "[")

// tidy returns the message without DuckDB's picture of the statement and its advice to change settings or install things,
// which doesn't apply here. A first capital becomes small, as our messages have it.
func (r report) tidy() string {
	text := r.Message
	for _, cut := range []string{
		"\nLINE ", "\nPossible solutions", "\nPlease try installing", "\nUse \"SET", "\nThis limit was set by", "\nThis can happen when",
	} {
		text, _, _ = strings.Cut(text, cut)
	}
	text = constantTypes.Replace(strings.TrimRight(strings.TrimSpace(text), ".!"))
	if text == "" {
		return r.Type
	}
	return lowerFirst(text)
}

// constantTypes are DuckDB's own names of the types of constants.
var constantTypes = strings.NewReplacer("INTEGER_LITERAL", "INTEGER", "STRING_LITERAL", "VARCHAR")

// lowerFirst makes the capital that a sentence begins with small.
func lowerFirst(text string) string {
	if len(text) > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z' {
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// lineColumn returns where position, in characters, lies in text, counted from 1.
func lineColumn(text, position string) (line, column int, ok bool) {
	n, err := strconv.Atoi(position)
	if err != nil || n < 0 {
		return 0, 0, false
	}
	line, column = 1, 1
	for _, r := range text {
		if n == 0 {
			break
		}
		n--
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column, true
}
