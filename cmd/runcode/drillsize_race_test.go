//go:build race

package main

// largeAnswer is less than the limit allows: with the race detector a program takes a minute to read that much.
const largeAnswer = 8
