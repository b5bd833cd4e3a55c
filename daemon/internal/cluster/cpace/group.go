package cpace

import (
	"crypto/sha512"
	"encoding/binary"

	"github.com/gtank/ristretto255"
)

const (
	// dsi separates the domain of generators, dsiISK that of keys (section 8.3).
	dsi    = "CPaceRistretto255"
	dsiISK = "CPaceRistretto255_ISK"
	// blockSize is the input block of SHA-512 in bytes, which the code and its
	// padding fill, so that the time for hashing does not depend on its length.
	blockSize = 128
	// ShareSize is the length of a public share in bytes.
	ShareSize = 32
)

// prependLen puts the length of a string before it, in LEB128.
func prependLen(to, s []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

// lvCat joins strings so that no two lists of strings give the same.
func lvCat(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = prependLen(all, p)
	}
	return all
}

// generatorString is what the generator is made of (section 8.1).
func generatorString(code, ci, sid []byte) []byte {
	padding := max(0, blockSize-1-len(prependLen(nil, code))-len(prependLen(nil, []byte(dsi))))
	return lvCat([]byte(dsi), code, make([]byte, padding), ci, sid)
}

// generator maps a code to an element whose logarithm nobody knows.
func generator(code, ci, sid []byte) *ristretto255.Element {
	hash := sha512.Sum512(generatorString(code, ci, sid))
	return ristretto255.NewElement().FromUniformBytes(hash[:])
}

// scalarMult is the encoding of y times an element.
func scalarMult(y *ristretto255.Scalar, g *ristretto255.Element) []byte {
	return ristretto255.NewElement().ScalarMult(y, g).Encode(nil)
}

// scalarMultVerify is y times an encoded element, false where the encoding is
// none or the result is the neutral element: a share that was made to force a
// key.
func scalarMultVerify(y *ristretto255.Scalar, encoded []byte) ([]byte, bool) {
	if len(encoded) != ShareSize {
		return nil, false
	}
	element := ristretto255.NewElement()
	if element.Decode(encoded) != nil {
		return nil, false
	}
	element.ScalarMult(y, element)
	if element.Equal(ristretto255.NewElement()) == 1 {
		return nil, false
	}
	return element.Encode(nil), true
}
