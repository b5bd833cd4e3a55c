package gpu

import "fulmen/mlxbridge"

// product is two matrices that are multiplied again and again.
type product struct {
	scope *mlxbridge.Scope
	a, b  *mlxbridge.Array
}

func newProduct(stream *mlxbridge.Stream, side int, dtype mlxbridge.Dtype) (*product, error) {
	p := &product{scope: mlxbridge.NewScope(stream)}
	var err error
	// Random values: a GPU draws less power, and clocks higher, on zeros.
	if p.a, err = p.scope.Normal([]int{side, side}, dtype, 0, 1, 1); err == nil {
		p.b, err = p.scope.Normal([]int{side, side}, dtype, 0, 1, 2)
	}
	if err == nil {
		err = p.scope.Eval(p.a, p.b)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// run computes one product and waits for it.
func (p *product) run() error {
	c, err := p.scope.MatMul(p.a, p.b)
	if err != nil {
		return err
	}
	defer c.Free()
	return p.scope.Eval(c)
}

func (p *product) close() { p.scope.Close() }

// buffer is an array of zeros that is summed again and again.
type buffer struct {
	scope *mlxbridge.Scope
	zeros *mlxbridge.Array
}

func newBuffer(stream *mlxbridge.Stream, size uint64, dtype mlxbridge.Dtype) (*buffer, error) {
	b := &buffer{scope: mlxbridge.NewScope(stream)}
	var err error
	// Zeros of the type itself: made in float32 and converted, a buffer of
	// float16 would need three times its size.
	if b.zeros, err = b.scope.Zeros([]int{int(size) / dtype.Size()}, dtype); err == nil {
		err = b.scope.Eval(b.zeros)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// run reads the whole buffer once.
func (b *buffer) run() error {
	sum, err := b.scope.Sum(b.zeros, false)
	if err != nil {
		return err
	}
	defer sum.Free()
	return b.scope.Eval(sum)
}

// close frees the buffer and hands its memory back to the system, so that the
// next one finds room.
func (b *buffer) close() {
	b.scope.Close()
	_ = mlxbridge.ClearCache()
}
