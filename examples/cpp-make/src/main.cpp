// Reads numbers, a row a line, and prints them with mean 0 and variance 1 in each row.
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include "device.h"
#include "standardise_rows.h"

int main()
{
    std::vector<float> x;
    int rows = 0;
    for (std::string line; std::getline(std::cin, line); rows++) {
        std::istringstream numbers(line);
        for (float number; numbers >> number;)
            x.push_back(number);
    }
    try {
        check(prism_open(0));
        const std::vector<float> y = standardise_rows(x, rows, 1e-5f);
        const std::size_t cols = y.size() / static_cast<std::size_t>(rows);
        for (std::size_t i = 0; i < y.size(); i++)
            std::printf("%.4f%c", static_cast<double>(y[i]), (i + 1) % cols ? ' ' : '\n');
    } catch (const std::exception &error) {
        std::fprintf(stderr, "standardise: %s\n", error.what());
        return 1;
    }
}
