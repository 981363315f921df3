package transform

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

func TestSpecVectors(t *testing.T) {
	for _, v := range SpecVectors() {
		t.Run(v.Type+" "+v.Value, func(t *testing.T) {
			typ := mustType(t, v.Type)
			h, err := Hash(typ, mustValue(t, typ, v.Value))
			if err != nil || h != v.Hash {
				t.Errorf("hash %d, %v; want %d", h, err, v.Hash)
			}
		})
	}
}

type hashCase struct {
	typ, value string
	hash       int32
	bucket16   int32
}

func checkHashes(t *testing.T, cases []hashCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.typ+" "+c.value, func(t *testing.T) {
			typ := mustType(t, c.typ)
			v := mustValue(t, typ, c.value)
			if h, err := Hash(typ, v); err != nil || h != c.hash {
				t.Errorf("hash %d, %v; want %d", h, err, c.hash)
			}
			if b, err := mustParse(t, "bucket[16]").Apply(typ, v); err != nil || b != c.bucket16 {
				t.Errorf("bucket[16] %v, %v; want %d", b, err, c.bucket16)
			}
		})
	}
}

func TestHSH1(t *testing.T) {
	const nines = "99999999999999999999999999999999999999"
	checkHashes(t, []hashCase{
		{"decimal(38, 0)", "0", 1364076727, 7}, {"decimal(38, 0)", "-1", -43192051, 13},
		{"decimal(38, 0)", "128", 1544076949, 5}, {"decimal(38, 0)", "-128", 267099677, 13},
		{"decimal(38, 0)", "-129", -435537839, 1}, {"decimal(38, 0)", "255", -582037868, 4},
		{"decimal(38, 0)", "-255", 594344554, 10}, {"decimal(38, 0)", "-32768", 1659329203, 3},
		{"decimal(38, 0)", "-8388608", -640632435, 13}, {"decimal(9, 2)", "14.20", -500754589, 3},
		{"decimal(4, 3)", "1.42", -500754589, 3}, {"decimal(9, 2)", "-14.2", 667775751, 7},
		{"decimal(38, 0)", nines, -1079967834, 6}, {"decimal(38, 0)", "-" + nines, -1954217638, 10},
		{"decimal(38, 0)", "13730276981194331810251895887125837580", -32334285, 3},
	})
}

func TestHSH1Bytes(t *testing.T) {
	for v, want := range map[int64]string{
		0: "00", -1: "ff", 127: "7f", 128: "0080", -128: "80", -129: "ff7f", 255: "00ff", -255: "ff01", -256: "ff00",
		-32768: "8000", -8388608: "800000", 1420: "058c", -1420: "fa74", math.MinInt64: "8000000000000000",
	} {
		if got := fmt.Sprintf("%x", DecimalBytes(big.NewInt(v))); got != want {
			t.Errorf("%d: %s, want %s", v, got, want)
		}
	}
}

func TestHSH2(t *testing.T) {
	checkHashes(t, []hashCase{
		{"uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1488055340, 12},
		{"uuid", "F79C3E09-677C-4BBD-A479-3F349CB785E7", 1488055340, 12},
		{"uuid", "00000000-0000-0000-0000-000000000000", -2127245832, 8},
		{"uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", -451333010, 14},
	})
}

func TestHSH3(t *testing.T) {
	checkHashes(t, []hashCase{
		{"timestamp_ns", "2017-11-16T22:31:08.000001001", -1207196810, 6},
		{"timestamp_ns", "1969-12-31T23:59:59.999999999", 1651860712, 8},
		{"timestamptz_ns", "1969-12-31T23:59:59.999999999Z", 1651860712, 8},
		{"timestamp", "1969-12-31T23:59:59.999999", 1651860712, 8},
	})
}

func TestHSH4(t *testing.T) {
	checkHashes(t, []hashCase{
		{"int", "34", 2017239379, 3}, {"long", "34", 2017239379, 3}, {"date", "2017-11-16", -653330422, 10},
		{"int", "-1", 1651860712, 8}, {"long", "-1", 1651860712, 8}, {"date", "1969-12-31", 1651860712, 8},
		{"int", "-2147483648", -2073034792, 8}, {"int", "2147483647", 1819228606, 14},
		{"long", "-9223372036854775808", 1366273829, 5}, {"long", "9223372036854775807", -2106506049, 15},
		{"date", "0001-01-01", 581067273, 9},
	})
}

func TestHSH6(t *testing.T) {
	checkHashes(t, []hashCase{
		{"string", "a💰", 2052573122, 2}, {"string", "😀", -1095487750, 10}, {"string", "\U00020000", -1999699822, 2},
		{"string", "日本", -992347838, 2}, {"string", "żółw", -43355136, 0},
	})
	typ := Type{Kind: String}
	composed, _ := Hash(typ, "\u00e9")
	decomposed, _ := Hash(typ, "e\u0301")
	if composed == decomposed {
		t.Error("strings must not be normalised")
	}
	if h, err := Hash(typ, "a\xff"); err == nil {
		t.Errorf("invalid UTF-8 hashed to %d, want an error", h)
	}
}

func TestHSH7(t *testing.T) {
	checkHashes(t, []hashCase{{"int", "-34", -2117612851, 13}, {"long", "-34", -2117612851, 13}})
	if got := BucketOf(-2117612851, 100); got != 97 {
		t.Errorf("bucket[100] %d, want 97", got)
	}
	for _, text := range []string{"bucket[0]", "bucket[-1]", "bucket[-16]", "bucket[2147483648]"} {
		if tr, err := Parse(text); err == nil {
			t.Errorf("%s became %v, want an error", text, tr)
		}
	}
	for _, n := range []int{0, -1} {
		if v, err := (Transform{Op: Bucket, N: n}).Apply(Type{Kind: Int}, int32(1)); err == nil {
			t.Errorf("bucket[%d] gave %v, want an error", n, v)
		}
	}
}

// plainMurmur follows the published description of murmur3 x86 32-bit byte by byte.
func plainMurmur(b []byte) int32 {
	var h uint32
	n := uint32(len(b))
	for ; len(b) > 0; b = b[min(4, len(b)):] {
		var k uint32
		for i := 0; i < min(4, len(b)); i++ {
			k |= uint32(b[i]) << (8 * i)
		}
		k *= 0xcc9e2d51
		k = k<<15 | k>>17
		h ^= k * 0x1b873593
		if len(b) >= 4 {
			h = (h<<13|h>>19)*5 + 0xe6546b64
		}
	}
	h ^= n
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return int32(h ^ h>>16)
}

func TestHashAgreesWithPlainMurmur(t *testing.T) {
	r := seed.Rand(t)
	for range 20_000 {
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		want := plainMurmur(b)
		if HashBytes(b) != want || HashString(string(b)) != want {
			t.Fatalf("%x: %d and %d, want %d", b, HashBytes(b), HashString(string(b)), want)
		}
	}
}

func TestHashDecimalsAgree(t *testing.T) {
	r := seed.Rand(t)
	for range 50_000 {
		v := randomInt(r, 64)
		want := plainMurmur(DecimalBytes(big.NewInt(v)))
		if got := HashDecimal64(v); got != want {
			t.Fatalf("HashDecimal64(%d) = %d, want %d", v, got, want)
		}
		hi, lo := randomInt(r, 64), r.Uint64()
		wide := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(hi), 64), new(big.Int).SetUint64(lo))
		if got, want := HashDecimal128(hi, lo), plainMurmur(DecimalBytes(wide)); got != want {
			t.Fatalf("HashDecimal128(%d, %d) = %d, want %d", hi, lo, got, want)
		}
		if got := HashDecimal128(v>>63, uint64(v)); got != want {
			t.Fatalf("HashDecimal128 of %d = %d, want %d", v, got, want)
		}
	}
}

func TestBucketVectorsAgree(t *testing.T) {
	r := seed.Rand(t)
	src, narrow := make([]int64, 1000), make([]int32, 1000)
	dst, narrowDst := make([]int32, 1000), make([]int32, 1001)
	for _, n := range []int32{1, 2, 3, 7, 16, 64, 100, 1009, 1 << 20, math.MaxInt32 - 1, math.MaxInt32} {
		for i := range src {
			narrow[i] = int32(randomInt(r, 32))
			src[i] = randomInt(r, 64)
		}
		BucketInt64s(dst, src, n)
		BucketInt32s(narrowDst, narrow, n)
		for i := range src {
			if want := BucketOf(HashInt64(src[i]), int(n)); dst[i] != want {
				t.Fatalf("bucket[%d] of %d is %d, want %d", n, src[i], dst[i], want)
			}
			if want := BucketOf(HashInt64(int64(narrow[i])), int(n)); narrowDst[i] != want {
				t.Fatalf("bucket[%d] of %d is %d, want %d", n, narrow[i], narrowDst[i], want)
			}
		}
	}
}

func TestHashAllocatesNothing(t *testing.T) {
	s, b := "a string of some length", []byte("some bytes")
	var sink int32
	n := testing.AllocsPerRun(100, func() {
		sink += HashInt64(5) + HashString(s) + HashBytes(b) + HashDecimal64(-1420) + HashDecimal128(-5, 1)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHashInt64(b *testing.B) {
	var sink int32
	for i := range b.N {
		sink += HashInt64(int64(i))
	}
	_ = sink
}

func BenchmarkHashDecimal64(b *testing.B) {
	var sink int32
	for i := range b.N {
		sink += HashDecimal64(int64(i))
	}
	_ = sink
}

func BenchmarkBucketInt64s(b *testing.B) {
	src, dst := make([]int64, 2048), make([]int32, 2048)
	for i := range src {
		src[i] = int64(i) * 7919
	}
	b.SetBytes(int64(8 * len(src)))
	for range b.N {
		BucketInt64s(dst, src, 64)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(src)), "ns/row")
}

func BenchmarkBucketInt32s(b *testing.B) {
	src, dst := make([]int32, 2048), make([]int32, 2048)
	for range b.N {
		BucketInt32s(dst, src, 64)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(src)), "ns/row")
}
