package golden

import (
	"fmt"
	"os"
	"testing"

	"github.com/tarndb/tarn"
)

func TestQ(t *testing.T) {
	l := newLab(t)
	s := session(t, l.files, Mode(os.Getenv("M")))
	a := Ask(t.Context(), s, os.Getenv("Q"))
	if a.Err != nil {
		fmt.Println("ERR", a.Err)
	}
	for i, r := range a.Rows {
		if i < 40 {
			fmt.Println(Text(r))
		}
	}
	x, err := s.Explain(t.Context(), os.Getenv("Q"), tarn.ExplainOptions{})
	fmt.Println(x, err)
}
