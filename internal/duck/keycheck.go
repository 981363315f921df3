package duck

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// KeyCheck says what a column of a scan must give under a transform, file by file: the layout that a plan trusts. Slices
// stay the caller's, unchanged.
type KeyCheck struct {
	Column    string              // the column, as people are told of it
	Type      transform.Type      // the column's type in the scan; not float or double
	Transform transform.Transform // defined on Type
	Files     []string            // as people are told of them, one for each file of the scan, in its order
	Expected  []transform.Value   // the partition value of each file; nil is NULL
}

// checks holds the registered checks by id, over all instances: DuckDB passes nothing but the number on.
var (
	checks    sync.Map // int64 -> *keyCheck
	lastCheck atomic.Int64
)

// keyCheck is a registered check.
type keyCheck struct {
	KeyCheck
	match   matcher
	files   []expectation
	failure atomic.Pointer[errs.Error] // the first row that was found to be in the wrong file
}

// RegisterKeyCheck makes a check known, so that a scan of this instance can name it. Release forgets it, once no
// statement that names it runs.
func (db *DB) RegisterKeyCheck(check KeyCheck) (id int64, release func(), err error) {
	if err := check.validate(); err != nil {
		return 0, nil, err
	}
	if err := db.ensureVerify(check.Type); err != nil {
		return 0, nil, err
	}
	k := &keyCheck{KeyCheck: check, match: matcherOf(check), files: make([]expectation, len(check.Files))}
	id = lastCheck.Add(1)
	if err := k.placeInC(id); err != nil {
		return 0, nil, err
	}
	checks.Store(id, k)
	return id, func() { checks.Delete(id); forgetPlaces(id) }, nil
}

func (k KeyCheck) validate() error {
	switch kind := k.Type.Kind; {
	case kind == transform.Float || kind == transform.Double || kind == transform.TimestampTZNS:
		return errs.New(errs.Unsupported, "register key check", k.Column, "a %s column is never a key", k.Type)
	case !k.Transform.CanApply(k.Type):
		return errs.New(errs.Invalid, "register key check", k.Column, "%s is not defined on %s", k.Transform, k.Type)
	case len(k.Files) != len(k.Expected):
		return errs.New(errs.Internal, "register key check", k.Column, "%d files, but %d partition values",
			len(k.Files), len(k.Expected))
	}
	return nil
}

// verifyName is the name of the function that checks a column of t. Each type has its own, because a function's result
// type is fixed.
func verifyName(t transform.Type) string {
	return "tarn_verify_" + strings.NewReplacer("(", "_", ",", "_", " ", "", ")", "", "[", "_", "]", "").Replace(t.String())
}

// ensureVerify makes sure that the instance has the check function of t.
func (db *DB) ensureVerify(t transform.Type) error {
	name, err := typeSQL(t)
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.verifies[t] {
		return nil
	}
	column, err := db.own.logicalType(name)
	if err != nil {
		return err
	}
	defer bindings.DestroyLogicalType(&column)
	id, index := bindings.CreateLogicalType(bindings.TypeBigInt), bindings.CreateLogicalType(bindings.TypeUBigInt)
	defer bindings.DestroyLogicalType(&id)
	defer bindings.DestroyLogicalType(&index)
	err = register(db.own, function{
		name: verifyName(t), params: []bindings.LogicalType{id, column, index}, result: column, call: verifyCall(t), checked: true, nulls: true,
	})
	db.verifies[t] = err == nil
	return err
}

// logicalType returns the type that DuckDB calls name, which the caller destroys.
func (c *Conn) logicalType(name string) (bindings.LogicalType, error) {
	stmt, err := c.prepare(context.Background(), "SELECT CAST(NULL AS "+name+")")
	if err != nil {
		return bindings.LogicalType{}, err
	}
	defer bindings.DestroyPrepare(&stmt)
	return bindings.PreparedStatementColumnLogicalType(stmt, 0), nil
}

// DuckDB carries an error as text: this mark leads back to the check that raised it.
var checkMark = regexp.MustCompile(`\[key check (\d+)\]`)

func markOf(id int64) string { return fmt.Sprintf("[key check %d]", id) }

// checkFailure returns the error of the check that msg comes from.
func checkFailure(msg string) (*errs.Error, bool) {
	m := checkMark.FindStringSubmatch(msg)
	if m == nil {
		return nil, false
	}
	id, _ := strconv.ParseInt(m[1], 10, 64)
	k, ok := checks.Load(id)
	if !ok {
		return nil, false
	}
	failure := k.(*keyCheck).failure.Load()
	return failure, failure != nil
}

// verifyOp is what the errors of checks say was attempted.
const verifyOp = "verify layout"

// MisplacedHint says what to do about a file with rows of other partitions than its own. A dynamic filter, as any condition, leaves
// out files by their partitions, and with them the rows that lie there by mistake.
const MisplacedHint = "rewrite the file with a writer that follows the table's spec; " +
	"SET tarn.spj = 'off' and SET tarn.dynamic_filter = 'off' read it as it is"

// IsMisplaced says whether an error is of a row that isn't where its file is filed.
func IsMisplaced(err error) bool {
	var e *errs.Error
	return errors.As(err, &e) && e.Kind == errs.Corrupt && e.Op == verifyOp
}

// fail records that row i of x, in the file, isn't where its key says, and returns the error for DuckDB to carry.
func (k *keyCheck) fail(id int64, x column, i, file int) error {
	value, found, op := "null", "null", k.Transform.String()+" of "+k.Column
	if x.isValid(i) {
		v := x.value(k.Type, i)
		value = transform.FormatValue(k.Type, v)
		if got, err := k.Transform.Apply(k.Type, v); err == nil {
			found = k.Transform.Human(k.Type, got)
		} else {
			found = err.Error()
		}
	}
	failure := errs.New(errs.Corrupt, verifyOp, k.Files[file],
		"a row has %s = %s, whose %s is %s, but by the file's partition tuple it is %s",
		k.Column, value, op, found, k.Transform.Human(k.Type, k.Expected[file])).
		WithHint("%s", MisplacedHint)
	k.failure.CompareAndSwap(nil, failure)
	return fmt.Errorf("%w %s", failure, markOf(id))
}
