package golden

import (
	"os"
	"testing"

	"github.com/tarndb/tarn/internal/task"
)

func TestMain(m *testing.M) {
	task.Rehearse.Store(true) // every graph runs as a far machine would get it
	os.Exit(m.Run())
}
