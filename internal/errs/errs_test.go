package errs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestIsAbout(t *testing.T) {
	inner := New(Corrupt, "read", "a.parquet", "it says b.parquet")
	for _, c := range []struct {
		err  error
		want bool
	}{
		{inner, true},
		{Wrap(Internal, "column", "x", fmt.Errorf("file: %w", inner)), true},
		{New(Corrupt, "read", "c.parquet", "it says a.parquet"), false},
		{errors.New("a.parquet"), false},
		{nil, false},
	} {
		if got := IsAbout(c.err, "a.parquet"); got != c.want {
			t.Errorf("%v is about the file: %v", c.err, got)
		}
	}
}

func TestReword(t *testing.T) {
	cause := errors.New("own")
	err := errors.Join(New(Corrupt, "read", "own", "own %s", "file").WithHint("own"), Wrap(Invalid, "op", "", cause))
	got := Reword(err, func(s string) string { return strings.ReplaceAll(s, "own", "their") })
	if want := "read own: their file\nop: own"; got.Error() != want || HintOf(errors.Unwrap(Reword(Wrap(Internal, "", "", New(Invalid, "", "", "").WithHint("own")), strings.ToUpper))) != "OWN" {
		t.Errorf("%q, want %q", got, want)
	}
	if !errors.Is(got, cause) || KindOf(got) != Corrupt || Reword(nil, strings.ToUpper) != nil {
		t.Errorf("causes and kinds changed: %v", got)
	}
}
