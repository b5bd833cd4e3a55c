package mlxbridge

import (
	"math"
	"testing"

	"github.com/matryer/is"
)

// halfCases are float32 numbers at the borders of both half types.
var halfCases = []float32{
	0, float32(math.Copysign(0, -1)), 1, -2, 0.1, 65504, 65519.996, 65520, -65536, 1e38, math.MaxFloat32,
	0x1p-14, 0x1p-15, 0x1p-24, 0x1p-25, 0x1.000002p-25, 0x1.8p-24, 0x1.4p-23, 0x1p-26, 0x1.ffcp-15, 0x1.ffep-15,
	1 + 0x1p-11, 1 + 0x1.8p-10, 1 + 0x1p-8, 1 + 0x1.8p-7, 2047.5, 2048.5, 2049.5,
	0x1p-126, 0x1p-127, 0x1p-133, 0x1p-134, 0x1.8p-133, math.SmallestNonzeroFloat32,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.Float32frombits(0xff800001),
}

func TestHalfBits(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct {
		f    float32
		half F16
		bf   BF16
	}{
		{0, 0, 0},
		{float32(math.Copysign(0, -1)), 0x8000, 0x8000},
		{1, 0x3c00, 0x3f80},
		{-2, 0xc000, 0xc000},
		{65504, 0x7bff, 0x4780},
		{65519.996, 0x7bff, 0x4780},
		{65520, 0x7c00, 0x4780},
		{0x1p-24, 1, 0x3380},
		{0x1p-25, 0, 0x3300}, // a tie goes to the even 0
		{0x1.000002p-25, 1, 0x3300},
		{0x1.8p-24, 2, 0x33c0}, // a tie goes to the even 2
		{0x1.ffep-15, 0x0400, 0x3880},
		{1 + 0x1p-11, 0x3c00, 0x3f80},
		{1 + 0x1.8p-10, 0x3c02, 0x3f80},
		{1 + 0x1p-8, 0x3c04, 0x3f80},
		{1 + 0x1.8p-7, 0x3c0c, 0x3f82},
		{math.MaxFloat32, 0x7c00, 0x7f80},
		{float32(math.Inf(-1)), 0xfc00, 0xff80},
	} {
		is.Equal(toF16(c.f), c.half)
		is.Equal(toBF16(c.f), c.bf)
	}
	is.True(toF16(math.Float32frombits(0x7f800001)).wide() != toF16(math.Float32frombits(0x7f800001)).wide()) // NaN
	is.True(toBF16(math.Float32frombits(0x7f800001)).wide() != toBF16(math.Float32frombits(0x7f800001)).wide())
}

// All 65536 numbers of both types come back from float32 as they were; a
// signalling NaN may become quiet.
func TestHalfRoundTrip(t *testing.T) {
	is := is.New(t)
	for bits := range 1 << 16 {
		h, b := F16(bits), BF16(bits)
		if f := h.wide(); f != f {
			is.Equal(toF16(f), h|0x200)
		} else {
			is.Equal(toF16(f), h)
		}
		if f := b.wide(); f != f {
			is.Equal(toBF16(f), b|0x40)
		} else {
			is.Equal(toBF16(f), b)
		}
	}
}

// MLX converts alike, both ways.
func TestHalfAgainstMLX(t *testing.T) {
	is := is.New(t)
	sc := cpuScope(t)
	a := must[*Array](t)(FromSlice(sc, halfCases, []int{len(halfCases)}))
	halves := must[[]F16](t)(ToSlice[F16](must[*Array](t)(sc.AsType(a, Float16))))
	brains := must[[]BF16](t)(ToSlice[BF16](must[*Array](t)(sc.AsType(a, BFloat16))))
	for i, f := range halfCases {
		if f != f {
			is.True(halves[i].wide() != halves[i].wide())
			is.True(brains[i].wide() != brains[i].wide())
			continue
		}
		is.Equal(toF16(f), halves[i])
		is.Equal(toBF16(f), brains[i])
	}

	all := make([]F16, 1<<16)
	for i := range all {
		all[i] = F16(i)
	}
	wide := must[*Array](t)(sc.AsType(must[*Array](t)(FromSlice(sc, all, []int{len(all)})), Float32))
	for i, f := range must[[]float32](t)(ToSlice[float32](wide)) {
		if f == f {
			is.Equal(math.Float32bits(f), math.Float32bits(F16(i).wide()))
		}
	}
}

// The result is the nearest of the type's numbers, and of two as near the even
// one; that is what the neighbours on both sides are compared for.
func FuzzHalf(f *testing.F) {
	for _, v := range halfCases {
		f.Add(math.Float32bits(v))
	}
	f.Fuzz(func(t *testing.T, bits uint32) {
		v := math.Float32frombits(bits)
		if v != v || math.IsInf(float64(v), 0) {
			return
		}
		nearest(t, v, uint16(toF16(v)), 0x7c00, 65520, func(b uint16) float64 { return float64(F16(b).wide()) })
		nearest(t, v, uint16(toBF16(v)), 0x7f80, 0x1.ffp127, func(b uint16) float64 { return float64(BF16(b).wide()) })
	})
}

// nearest checks a rounding to a 16-bit type whose infinity has the bits inf and
// begins at limit.
func nearest(t *testing.T, f float32, got, inf uint16, limit float64, value func(uint16) float64) {
	t.Helper()
	if got&0x8000 != 0 != math.Signbit(float64(f)) {
		t.Fatalf("%g changed its sign: %#x", f, got)
	}
	v, magnitude := math.Abs(float64(f)), got&0x7fff
	if v >= limit || magnitude >= inf {
		if v < limit || magnitude != inf {
			t.Fatalf("%g became %#x", f, got)
		}
		return
	}
	distance := math.Abs(value(magnitude) - v)
	for _, other := range []uint16{magnitude - 1, magnitude + 1} {
		if magnitude == 0 && other != 1 || other == inf {
			continue
		}
		d := math.Abs(value(other) - v)
		if d < distance || d == distance && magnitude&1 == 1 {
			t.Fatalf("%g became %#x, %#x is nearer or as near and even", f, magnitude, other)
		}
	}
}

// toF16 rounds to the nearest binary16 number, ties to even. What is 65520 or
// larger becomes infinite; a NaN stays a quiet NaN and keeps the upper bits of
// its payload.
func toF16(f float32) F16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	exponent := int(bits>>23&0xff) - 127
	fraction := bits & 0x7fffff
	switch {
	case exponent == 128 && fraction != 0:
		return F16(sign | 0x7e00 | uint16(fraction>>13))
	case exponent > 15:
		return F16(sign | 0x7c00)
	case exponent >= -14:
		// A carry out of the fraction raises the exponent, up to infinity.
		return F16(sign + uint16(exponent+15)<<10 + uint16(roundShift(fraction, 13)))
	case exponent >= -25:
		return F16(sign | uint16(roundShift(fraction|0x800000, uint(-exponent-1))))
	}
	return F16(sign)
}

// wide is the same number; every binary16 number has one.
func (h F16) wide() float32 {
	sign := uint32(h&0x8000) << 16
	exponent := uint32(h >> 10 & 0x1f)
	fraction := uint32(h & 0x3ff)
	switch exponent {
	case 0:
		// Subnormal: fraction * 2^-24, exact in float32.
		f := float32(fraction) * 0x1p-24
		return math.Float32frombits(sign | math.Float32bits(f))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// toBF16 rounds to the nearest bfloat16 number, ties to even. A NaN stays a
// quiet NaN and keeps the upper bits of its payload.
func toBF16(f float32) BF16 {
	bits := math.Float32bits(f)
	if f != f {
		return BF16(bits>>16 | 0x40)
	}
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// wide is the same number; every bfloat16 number has one.
func (b BF16) wide() float32 { return math.Float32frombits(uint32(b) << 16) }

// roundShift is v / 2^n, rounded to the nearest integer, ties to even.
func roundShift(v uint32, n uint) uint32 {
	quotient := v >> n
	rest := v & (1<<n - 1)
	half := uint32(1) << (n - 1)
	if rest > half || rest == half && quotient&1 == 1 {
		quotient++
	}
	return quotient
}
