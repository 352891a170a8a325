// What the kernels compute, against a loop on the host, and what the launch functions refuse.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "device.h"
#include "moments.h"
#include "standardise_rows.h"

static int failures = 0;

#define EXPECT(condition)                                                                         \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                   \
            failures++;                                                                           \
        }                                                                                         \
    } while (0)

static void computes_rows(int rows, int cols)
{
    std::mt19937 random(static_cast<unsigned>(rows * 1000 + cols));
    std::normal_distribution<float> normal(3, 2);
    std::vector<float> x(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
    for (float &number : x)
        number = normal(random);
    const Moments moments = row_moments(x, rows);
    const std::vector<float> y = standardise_rows(x, rows, 1e-5f);
    for (int row = 0; row < rows; row++) {
        const std::size_t at = static_cast<std::size_t>(row);
        const float *first = &x[at * static_cast<std::size_t>(cols)];
        double mean = 0, variance = 0;
        for (int i = 0; i < cols; i++)
            mean += static_cast<double>(first[i]) / cols;
        for (int i = 0; i < cols; i++)
            variance += (first[i] - mean) * (first[i] - mean) / cols;
        EXPECT(std::fabs(moments.mean[at] - mean) < 1e-5);
        EXPECT(std::fabs(moments.variance[at] - variance) < 1e-4);
        for (int i = 0; i < cols; i++) {
            const double expected = (first[i] - mean) / std::sqrt(variance + 1e-5);
            EXPECT(std::fabs(y[at * static_cast<std::size_t>(cols) + static_cast<std::size_t>(i)]
                             - expected) < 1e-3);
        }
    }
}

static prism_status launch(prism_grid grid, const float *x, const DeviceArray<float> &out)
{
    return moments_launch(grid, nullptr, moments_cols(4), moments_x(x), moments_mean(out.data()),
                          moments_variance(out.data() + 1));
}

static void refuses_what_is_wrong()
{
    const DeviceArray<float> x(std::vector<float>(8)), out(2);
    EXPECT(launch(1, x.data(), out) == PRISM_OK);
    EXPECT(launch({1, moments_THREADS}, x.data(), out) == PRISM_OK);
    EXPECT(launch({1, 64}, x.data(), out) == PRISM_WRONG_BLOCK);
    EXPECT(std::strstr(prism_message(), "blocks of 128 threads, not of 64"));
    EXPECT(launch(0, x.data(), out) == PRISM_WRONG_GRID);
    const char *bytes = reinterpret_cast<const char *>(x.data());
    const float *odd = reinterpret_cast<const float *>(bytes + 2);
    EXPECT(launch(1, odd, out) == PRISM_WRONG_ARGUMENT);
    EXPECT(std::strstr(prism_message(), "`x`"));
}

int main()
{
    check(prism_open(0));
    computes_rows(1, 1);
    computes_rows(3, 100);
    computes_rows(2, 300);
    refuses_what_is_wrong();
    std::printf(failures ? "%d failures\n" : "all is well\n", failures);
    return failures != 0;
}
