package mlxbridge

import (
	"fmt"
	"slices"
)

// opCase is one operation on given inputs: it is run here, computed in Go by
// reference, and run in Python.
type opCase struct {
	Name     string    `json:"name"`
	Op       string    `json:"op"`
	In       []tensor  `json:"in"`
	Dtype    string    `json:"dtype,omitempty"`
	Shape    []int     `json:"shape"`
	Axes     []int     `json:"axes"`
	Keepdims bool      `json:"keepdims,omitempty"`
	Numbers  []float64 `json:"numbers,omitempty"`
	Seed     uint64    `json:"seed,omitempty"`

	// drawn cases have no reference in Go: their numbers are compared with
	// Python's, and their distribution is tested on its own.
	drawn bool
}

// run builds the case's array.
func (c opCase) run(sc *Scope) (*Array, error) {
	var in []*Array
	for _, x := range c.In {
		a, err := upload(sc, x)
		if err != nil {
			return nil, err
		}
		in = append(in, a)
	}
	var dt Dtype
	if c.Dtype != "" {
		var err error
		if dt, err = ParseDtype(c.Dtype); err != nil {
			return nil, err
		}
	}
	switch c.Op {
	case "zeros":
		return sc.Zeros(c.Shape, dt)
	case "full":
		return sc.Full(c.Shape, c.Numbers[0], dt)
	case "normal":
		return sc.Normal(c.Shape, dt, c.Numbers[0], c.Numbers[1], c.Seed)
	case "astype":
		return sc.AsType(in[0], dt)
	case "reshape":
		return sc.Reshape(in[0], c.Shape)
	case "matmul":
		return sc.MatMul(in[0], in[1])
	case "add":
		return sc.Add(in[0], in[1])
	case "sum":
		return sc.Sum(in[0], c.Keepdims, c.Axes...)
	}
	return nil, fmt.Errorf("no operation %q", c.Op)
}

// opCases is the table: every operation with every dtype that it has.
func opCases() []opCase {
	var list []opCase
	add := func(dt Dtype, c opCase) {
		c.Name = fmt.Sprintf("%s/%v/%d", c.Op, dt, len(list))
		list = append(list, c)
	}
	for _, dt := range everyDtype() {
		name := dt.String()
		add(dt, opCase{Op: "zeros", Dtype: name, Shape: []int{2, 3}})
		add(dt, opCase{Op: "zeros", Dtype: name, Shape: []int{}})
		add(dt, opCase{Op: "full", Dtype: name, Shape: []int{0, 3}, Numbers: []float64{1}})
		add(dt, opCase{Op: "full", Dtype: name, Shape: []int{3, 2}, Numbers: []float64{1}})
		for _, to := range everyDtype() {
			add(dt, opCase{Op: "astype", Dtype: to.String(), In: []tensor{nonNegative(sample(dt, 1, 2, 5))}})
		}
		add(dt, opCase{Op: "reshape", In: []tensor{sample(dt, 1, 2, 6)}, Shape: []int{3, 4}})
		add(dt, opCase{Op: "reshape", In: []tensor{sample(dt, 1, 2, 6)}, Shape: []int{3, -1, 2}})
		add(dt, opCase{Op: "reshape", In: []tensor{sample(dt, 1, 1)}, Shape: []int{}})
		add(dt, opCase{Op: "add", In: []tensor{sample(dt, 1, 3, 4), sample(dt, 2, 3, 4)}})
		add(dt, opCase{Op: "add", In: []tensor{sample(dt, 1, 3, 1, 4), sample(dt, 2, 5, 1)}})
		add(dt, opCase{Op: "add", In: []tensor{sample(dt, 1), sample(dt, 2, 16)}})
		add(dt, opCase{Op: "add", In: []tensor{sample(dt, 1, 0, 4), sample(dt, 2, 1, 4)}})
		for _, axes := range [][]int{{}, {0}, {-1}, {0, 2}, {1}} {
			add(dt, opCase{Op: "sum", In: []tensor{sample(dt, 3, 2, 3, 4)}, Axes: axes})
			add(dt, opCase{Op: "sum", In: []tensor{sample(dt, 3, 2, 3, 4)}, Axes: axes, Keepdims: true})
		}
		add(dt, opCase{Op: "sum", In: []tensor{sample(dt, 3, 0, 4)}, Axes: []int{0}})
		if slices.Contains([]Dtype{Float16, Float32, Float64, BFloat16, Complex64}, dt) {
			add(dt, opCase{Op: "matmul", In: []tensor{sample(dt, 1, 3, 4), sample(dt, 2, 4, 5)}})
			add(dt, opCase{Op: "matmul", In: []tensor{sample(dt, 1, 2, 1, 3, 4), sample(dt, 2, 3, 4, 2)}})
			add(dt, opCase{Op: "matmul", In: []tensor{sample(dt, 1, 4), sample(dt, 2, 4, 2)}})
			add(dt, opCase{Op: "matmul", In: []tensor{sample(dt, 1, 2, 0), sample(dt, 2, 0, 2)}})
		}
		if slices.Contains([]Dtype{Float16, Float32, BFloat16}, dt) {
			add(dt, opCase{Op: "normal", Dtype: name, Shape: []int{7}, Numbers: []float64{1, 2}, Seed: 12, drawn: true})
			add(dt, opCase{Op: "normal", Dtype: name, Shape: []int{4, 4}, Numbers: []float64{0, 1}, Seed: 1 << 40, drawn: true})
		}
	}
	add(Complex64, opCase{Op: "normal", Dtype: "complex64", Shape: []int{5}, Numbers: []float64{0, 1}, Seed: 3, drawn: true})
	return list
}

// nonNegative makes negative numbers positive, which every dtype can be cast to.
func nonNegative(x tensor) tensor {
	dt, err := ParseDtype(x.Dtype)
	if err != nil {
		panic(err)
	}
	values := decode(dt, x.Data)
	for i, v := range values {
		if real(v) < 0 {
			values[i] = complex(-real(v), imag(v))
		}
	}
	x.Data = encode(dt, values)
	return x
}
