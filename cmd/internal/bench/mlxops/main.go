// Command mlxops does MLX operations through mlxbridge on request, for make
// bench: it reads lines "OPERATION COUNT" and answers each with the seconds
// that COUNT of them took. Its twin in Python is ../mlxops.py.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"fulmen/mlxbridge"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "mlxops:", err)
		os.Exit(1)
	}
}

func serve() error {
	stream, err := mlxbridge.NewStream(mlxbridge.Device{Type: mlxbridge.CPU})
	if err != nil {
		return err
	}
	operations := map[string]func() error{}
	requests := bufio.NewScanner(os.Stdin)
	for requests.Scan() {
		var name string
		var count int
		if _, err := fmt.Sscan(requests.Text(), &name, &count); err != nil {
			return fmt.Errorf("request %q: %w", requests.Text(), err)
		}
		if operations[name] == nil {
			if operations[name], err = prepare(stream, name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		took, err := repeat(operations[name], count)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println(took.Seconds())
	}
	return requests.Err()
}

func repeat(operation func() error, count int) (time.Duration, error) {
	began := time.Now()
	for range count {
		if err := operation(); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// prepare makes the inputs of an operation.
func prepare(stream *mlxbridge.Stream, name string) (func() error, error) {
	scope := mlxbridge.NewScope(stream) // for the life of the program
	ones := func(shape ...int) (*mlxbridge.Array, error) {
		array, err := scope.Full(shape, 1, mlxbridge.Float32)
		if err != nil {
			return nil, err
		}
		return array, scope.Eval(array)
	}
	then := func(array *mlxbridge.Array, err error) error {
		if err != nil {
			return err
		}
		err = scope.Eval(array)
		array.Free()
		return err
	}
	switch name {
	case "build16", "add16":
		a, err := ones(16)
		if err != nil {
			return nil, err
		}
		if name == "add16" {
			return func() error { return then(scope.Add(a, a)) }, nil
		}
		return func() error {
			sum, err := scope.Add(a, a)
			if err == nil {
				sum.Free()
			}
			return err
		}, nil
	case "matmul1024":
		a, err := ones(1024, 1024)
		return func() error { return then(scope.MatMul(a, a)) }, err
	case "sum256":
		a, err := ones(256 << 20 / 4)
		return func() error { return then(scope.Sum(a, false)) }, err
	}
	return nil, fmt.Errorf("there is no such operation")
}
