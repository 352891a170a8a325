#include "standardise_rows.h"

#include "device.h"
#include "moments.h"
#include "standardise.h"

namespace {

// Blocks of a launch, and elements of a row.
struct Shape {
    unsigned blocks;
    int cols;
};

Shape shape_of(const std::vector<float> &x, int rows)
{
    if (rows < 1 || x.size() % static_cast<std::size_t>(rows))
        throw std::runtime_error("the numbers do not fill the rows");
    return {static_cast<unsigned>(rows), static_cast<int>(x.size()) / rows};
}

}  // namespace

Moments row_moments(const std::vector<float> &x, int rows)
{
    const Shape shape = shape_of(x, rows);
    const DeviceArray<float> numbers(x), mean(shape.blocks), variance(shape.blocks);
    check(moments_launch(shape.blocks, nullptr, moments_cols(shape.cols), moments_x(numbers.data()),
                         moments_mean(mean.data()), moments_variance(variance.data())));
    return {mean.values(), variance.values()};
}

std::vector<float> standardise_rows(const std::vector<float> &x, int rows, float epsilon)
{
    const Shape shape = shape_of(x, rows);
    const DeviceArray<float> numbers(x), result(x.size());
    const DeviceArray<float> mean(shape.blocks), variance(shape.blocks);
    check(moments_launch(shape.blocks, nullptr, moments_cols(shape.cols), moments_x(numbers.data()),
                         moments_mean(mean.data()), moments_variance(variance.data())));
    check(standardise_launch(shape.blocks, nullptr, standardise_cols(shape.cols),
                             standardise_epsilon(epsilon), standardise_x(numbers.data()),
                             standardise_mean(mean.data()), standardise_variance(variance.data()),
                             standardise_y(result.data())));
    return result.values();
}
