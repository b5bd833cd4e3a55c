package jaccl

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
)

// FromEnvironment reads what a launcher has set, by the names that MLX gives to it.
// JACCL's own names would win, and mean another launcher: with them it refuses.
func FromEnvironment(environ []string) (Options, error) {
	set := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "JACCL_") {
			return Options{}, fmt.Errorf("%s is set", name)
		}
		set[name] = value
	}
	o := Options{Coordinator: set["MLX_JACCL_COORDINATOR"]}
	_, o.Ring = set["MLX_JACCL_RING"] // whatever its value
	var err error
	if o.Rank, err = strconv.Atoi(set["MLX_RANK"]); err != nil {
		return o, err
	}
	if o.Coordinator == "" {
		return o, errors.New("MLX_JACCL_COORDINATOR is not set")
	}
	text, err := os.ReadFile(set["MLX_IBV_DEVICES"])
	if err != nil {
		return o, err
	}
	var rows [][]devices
	if err := json.Unmarshal(text, &rows); err != nil {
		return o, err
	}
	for i, row := range rows {
		if len(row) != len(rows) || row[i] != nil {
			return o, fmt.Errorf("row %d of the devices is not one of %d with null on the diagonal", i, len(rows))
		}
		cells := make([][]string, len(row))
		for j, names := range row {
			cells[j] = names
		}
		o.Devices = append(o.Devices, cells)
	}
	mark := fnv.New64a()
	fmt.Fprint(mark, set["FULMEN_JOB"])
	o.Mark = mark.Sum64()
	return o, nil
}

// devices are those of a cell: null, one name or a list.
type devices []string

// UnmarshalJSON reads all three.
func (d *devices) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil && one != "" {
		*d = devices{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(d))
}
