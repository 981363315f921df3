package blackbox

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tarndb/tarn/internal/duck"
)

func TestScratch(t *testing.T) {
	dir := os.Getenv("SCRATCH")
	keys := 1_100_000
	fmt.Sscan(os.Getenv("KEYS"), &keys)
	_ = os.RemoveAll(dir)
	os.MkdirAll(dir, 0o755)
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	begin := time.Now()
	pad := `repeat(md5(i::VARCHAR), 12)`
	a, err := f.add(context.Background(), bucketed{name: "l", buckets: 64, from: fmt.Sprintf("range(%d) AS r(i)", 2*keys),
		columns: []column{{"k", longType, fmt.Sprintf("(i %% %d)", keys)}, {"id", longType, "i"}, {"pad", stringType, pad}}, copy: duck.CopyOptions{Compression: "uncompressed"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.add(context.Background(), bucketed{name: "r", buckets: 64, from: fmt.Sprintf("range(%d) AS r(i)", keys),
		columns: []column{{"k", longType, "i"}, {"w", longType, "i * 3"}, {"note", stringType, pad}}, copy: duck.CopyOptions{Compression: "uncompressed"}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(a>>20, b>>20, time.Since(begin))
}
