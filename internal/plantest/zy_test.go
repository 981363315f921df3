package plantest

import ("testing";"fmt";"os";"strings"; "github.com/tarndb/tarn/internal/duck")

func TestDuck(t *testing.T) {
	db, _ := duck.Open(t.Context(), duck.Options{Threads:1, TempDir: t.TempDir()})
	c, _ := db.Connect()
	for _, q := range strings.Split(os.Getenv("Q"), ";") {
		fmt.Println("==", q)
		res, err := c.Query(t.Context(), q)
		if err != nil { fmt.Println(err); continue }
		for { ch, err := res.Next(t.Context()); if err != nil { break }; r, _ := ch.Record(); fmt.Println(r); r.Release(); ch.Close() }
		res.Close()
	}
	c.Close(); db.Close()
}
