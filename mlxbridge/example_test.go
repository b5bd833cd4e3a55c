package mlxbridge_test

import (
	"fmt"
	"log"

	"fulmen/mlxbridge"
)

// A product of two matrices on the CPU.
func Example() {
	stream, err := mlxbridge.NewStream(mlxbridge.Device{Type: mlxbridge.CPU})
	if err != nil {
		log.Fatal(err)
	}
	sc := mlxbridge.NewScope(stream)
	defer sc.Close()
	a, err := mlxbridge.FromSlice(sc, []float32{1, 2, 3, 4}, []int{2, 2})
	if err != nil {
		log.Fatal(err)
	}
	product, err := sc.MatMul(a, a)
	if err != nil {
		log.Fatal(err)
	}
	values, err := mlxbridge.ToSlice[float32](product)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(product.Dtype(), product.Shape(), values)
	// Output: float32 [2 2] [7 10 15 22]
}
