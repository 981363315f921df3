package duck

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// carryMark begins the text of an error of ours on its way through DuckDB, which carries no more than text: JSON follows.
const carryMark = "tarn carries "

// carriedError is what comes through of an error.
type carriedError struct {
	Kind             errs.Kind
	Op, Object, Text string
	Hint             string
}

// carry returns an error as text that carried knows again.
func carry(err error) string {
	out := carriedError{Kind: errs.KindOf(err), Text: err.Error()}
	var own *errs.Error
	if errors.As(err, &own) {
		out.Op, out.Object, out.Text, out.Hint = own.Op, own.Object, own.Msg, errs.HintOf(err)
		if own.Err != nil {
			out.Text = strings.TrimPrefix(own.Msg+": "+own.Err.Error(), ": ")
		}
	}
	text, _ := json.Marshal(out) // texts and a number: always possible
	return carryMark + string(text)
}

// carried returns the error that DuckDB's text carries.
func carried(text string) (*errs.Error, bool) {
	_, text, ok := strings.Cut(readReport(text).Message, carryMark)
	var in carriedError
	if ok {
		ok = json.NewDecoder(strings.NewReader(text)).Decode(&in) == nil // DuckDB may say more behind it
	}
	if !ok {
		return nil, false
	}
	return &errs.Error{Kind: in.Kind, Op: in.Op, Object: in.Object, Msg: in.Text, Hint: in.Hint}, true
}
