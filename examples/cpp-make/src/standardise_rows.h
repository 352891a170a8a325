// Rows of a matrix with mean 0 and variance 1, computed on the GPU.
#pragma once

#include <vector>

struct Moments {
    std::vector<float> mean, variance;
};

// Mean and variance of each of `rows` rows of x. Throws std::runtime_error.
Moments row_moments(const std::vector<float> &x, int rows);

// (x - mean) / sqrt(variance + epsilon) of each row. Throws std::runtime_error.
std::vector<float> standardise_rows(const std::vector<float> &x, int rows, float epsilon);
