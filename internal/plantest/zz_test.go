package plantest

import ("testing";"fmt";"os";"strings")

func TestTry(t *testing.T) {
	tables, _ := os.ReadFile(os.Getenv("TABLES"))
	p := New(t, string(tables))
	for _, q := range strings.Split(os.Getenv("Q"), ";") {
	pl, err := p.Plan(t.Context(), q, Options{})
	fmt.Println("==", q)
	if err != nil { fmt.Println(err); continue }
	fmt.Println(pl.Report.Text(), pl.Scans(), pl.SQL(), "query:", pl.Query.SQL)
	}
}
