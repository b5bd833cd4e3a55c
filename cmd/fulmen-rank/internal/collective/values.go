package collective

import "fulmen/mlxbridge"

// message makes an array of count elements of a type on a scope, and computes
// it.
func message(scope *mlxbridge.Scope, dtype mlxbridge.Dtype, count int, value func(i int) float32) (*mlxbridge.Array, error) {
	data := make([]float32, count)
	for i := range data {
		data[i] = value(i)
	}
	array, err := mlxbridge.FromSlice(scope, data, []int{count})
	if err != nil {
		return nil, err
	}
	if dtype != mlxbridge.Float32 {
		if array, err = scope.AsType(array, dtype); err != nil {
			return nil, err
		}
	}
	return array, scope.Eval(array)
}

// values reads an array's elements as float32.
func values(scope *mlxbridge.Scope, array *mlxbridge.Array) ([]float32, error) {
	if array.Dtype() != mlxbridge.Float32 {
		var err error
		if array, err = scope.AsType(array, mlxbridge.Float32); err != nil {
			return nil, err
		}
		defer array.Free()
	}
	return mlxbridge.ToSlice[float32](array)
}
