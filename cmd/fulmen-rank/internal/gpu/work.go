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
	if p.a, err = random(p.scope, side, dtype, 1); err == nil {
		p.b, err = random(p.scope, side, dtype, 2)
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

// tileRows is how many rows of a matrix are drawn; the others repeat them.
const tileRows = 256

// random makes a matrix of random values: on zeros a GPU draws less power, and
// clocks higher. MLX draws in float32 whatever the type, so a tile is drawn and
// spread: a matrix drawn whole would need twice its size once more.
func random(scope *mlxbridge.Scope, side int, dtype mlxbridge.Dtype, seed uint64) (*mlxbridge.Array, error) {
	rows := min(tileRows, side)
	tile, err := scope.Normal([]int{1, rows, side}, dtype, 0, 1, seed)
	if err != nil {
		return nil, err
	}
	zeros, err := scope.Zeros([]int{side / rows, rows, side}, dtype)
	if err != nil {
		return nil, err
	}
	tiles, err := scope.Add(zeros, tile)
	if err != nil {
		return nil, err
	}
	return scope.Reshape(tiles, []int{side, side})
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
