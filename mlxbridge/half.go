package mlxbridge

import "math"

// F16 is an element of a Float16 array: an IEEE 754 binary16 number, as its bits.
type F16 uint16

// BF16 is an element of a BFloat16 array: the upper half of a binary32 number, as
// its bits.
type BF16 uint16

// ToF16 rounds to the nearest binary16 number, ties to even. What is 65520 or
// larger becomes infinite; a NaN stays a quiet NaN and keeps the upper bits of
// its payload.
func ToF16(f float32) F16 {
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

// Float32 is the same number; every binary16 number has one.
func (h F16) Float32() float32 {
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

// ToBF16 rounds to the nearest bfloat16 number, ties to even. A NaN stays a
// quiet NaN and keeps the upper bits of its payload.
func ToBF16(f float32) BF16 {
	bits := math.Float32bits(f)
	if f != f {
		return BF16(bits>>16 | 0x40)
	}
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 is the same number; every bfloat16 number has one.
func (b BF16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

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
