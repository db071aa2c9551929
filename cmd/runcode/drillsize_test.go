//go:build !race

package main

// largeAnswer is how many MiB an answer has that is just within the limit of 64.
const largeAnswer = 63
