package golden

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/duck"
)

func TestScratch(t *testing.T) {
	db, err := duck.Open(t.Context(), duck.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, _ := db.Connect()
	defer c.Close()
	b, _ := os.ReadFile(os.Getenv("SQLFILE"))
	for _, q := range strings.Split(string(b), ";\n") {
		if strings.TrimSpace(q) == "" {
			continue
		}
		fmt.Println("--", q)
		res, err := c.Query(t.Context(), q)
		if err != nil {
			fmt.Println("ERR", err)
			continue
		}
		for {
			ch, err := res.Next(t.Context())
			if err != nil {
				if err.Error() != "EOF" {
					fmt.Println(err)
				}
				break
			}
			rec, _ := ch.Record()
			rows, err := RowsOf(rec)
			if err != nil {
				fmt.Println(err)
			}
			for _, r := range rows {
				for _, v := range r {
					if s, ok := v.(string); ok && strings.Contains(s, "\n") {
						fmt.Println(s)
					}
				}
				fmt.Println(Text(r))
			}
			rec.Release()
			ch.Close()
		}
		res.Close()
	}
}
