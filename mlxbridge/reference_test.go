package mlxbridge

import (
	"cmp"
	"slices"
)

// reference computes a case in Go, in float64 and complex128, where the samples'
// sums and products are exact.
func (c opCase) reference() tensor {
	var dt Dtype
	if c.Dtype != "" {
		dt, _ = ParseDtype(c.Dtype)
	} else {
		dt, _ = ParseDtype(c.In[0].Dtype)
	}
	made := func(dt Dtype, shape []int, values []complex128) tensor {
		if shape == nil {
			shape = []int{}
		}
		return tensor{Dtype: dt.String(), Shape: shape, Data: encode(dt, values)}
	}
	var in [][]complex128
	for _, x := range c.In {
		of, _ := ParseDtype(x.Dtype)
		in = append(in, decode(of, x.Data))
	}
	switch c.Op {
	case "zeros", "full":
		v := 0.0
		if c.Op == "full" {
			v = c.Numbers[0]
		}
		return made(dt, c.Shape, slices.Repeat([]complex128{complex(v, 0)}, size(c.Shape)))
	case "astype":
		return made(dt, c.In[0].Shape, in[0])
	case "reshape":
		shape := slices.Clone(c.Shape)
		if i := slices.Index(shape, -1); i >= 0 {
			shape[i] = len(in[0]) / -size(shape)
		}
		return made(dt, shape, in[0])
	case "add":
		shape := broadcast(c.In[0].Shape, c.In[1].Shape)
		values := make([]complex128, size(shape))
		for i := range values {
			at := unravel(i, shape)
			values[i] = in[0][ravel(at, c.In[0].Shape)] + in[1][ravel(at, c.In[1].Shape)]
		}
		return made(dt, shape, values)
	case "matmul":
		shape, values := matmulReference(c.In[0].Shape, in[0], c.In[1].Shape, in[1])
		return made(dt, shape, values)
	case "sum":
		shape, values := c.sumReference(c.In[0].Shape, in[0])
		return made(sumDtype(dt), shape, values)
	}
	panic("no reference for " + c.Op)
}

// sumDtype is what MLX sums in.
func sumDtype(dt Dtype) Dtype {
	switch dt {
	case Bool, Int8, Int16:
		return Int32
	case Uint8, Uint16:
		return Uint32
	}
	return dt
}

// unravel gives the place of element i of a shape.
func unravel(i int, shape []int) []int {
	at := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		at[d] = i % shape[d]
		i /= shape[d]
	}
	return at
}

// ravel is the inverse for a shape that is broadcast to the place's.
func ravel(at, shape []int) int {
	i := 0
	at = at[len(at)-len(shape):]
	for d, n := range shape {
		i *= n
		if n > 1 {
			i += at[d]
		}
	}
	return i
}

func broadcast(a, b []int) []int {
	shape := make([]int, max(len(a), len(b)))
	for i := range shape {
		x, y := 1, 1
		if j := len(a) - 1 - i; j >= 0 {
			x = a[j]
		}
		if j := len(b) - 1 - i; j >= 0 {
			y = b[j]
		}
		if x == 1 {
			x = y
		}
		shape[len(shape)-1-i] = x
	}
	return shape
}

func matmulReference(ashape []int, a []complex128, bshape []int, b []complex128) ([]int, []complex128) {
	vector := len(ashape) == 1
	if vector {
		ashape = []int{1, ashape[0]}
	}
	rows, inner := ashape[len(ashape)-2], ashape[len(ashape)-1]
	columns := bshape[len(bshape)-1]
	batch := broadcast(ashape[:len(ashape)-2], bshape[:len(bshape)-2])
	shape := append(slices.Clone(batch), rows, columns)
	values := make([]complex128, size(shape))
	for i := range values {
		at := unravel(i, shape)
		row, column := at[len(batch)], at[len(batch)+1]
		for k := range inner {
			at[len(batch)], at[len(batch)+1] = row, k
			x := a[ravel(at, ashape)]
			at[len(batch)], at[len(batch)+1] = k, column
			values[i] += x * b[ravel(at, bshape)]
		}
	}
	if vector {
		shape = append(slices.Clone(batch), columns)
	}
	return shape, values
}

func (c opCase) sumReference(shape []int, in []complex128) ([]int, []complex128) {
	reduced := make([]bool, len(shape))
	for d := range reduced {
		reduced[d] = len(c.Axes) == 0 || slices.Contains(c.Axes, d) || slices.Contains(c.Axes, d-len(shape))
	}
	kept, out := slices.Clone(shape), []int{}
	for d := range shape {
		if reduced[d] {
			kept[d] = 1
		}
		if !reduced[d] || c.Keepdims {
			out = append(out, kept[d])
		}
	}
	values := make([]complex128, size(kept))
	for i, v := range in {
		values[ravel(unravel(i, shape), kept)] += v
	}
	return out, values
}

// larger orders as MLX does: complex numbers by their real parts first.
func larger(a, b complex128) bool {
	if c := cmp.Compare(real(a), real(b)); c != 0 {
		return c > 0
	}
	return imag(a) > imag(b)
}
