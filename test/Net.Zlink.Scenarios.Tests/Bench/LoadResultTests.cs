using Net.Zlink.Benchmarks.Compare;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Bench;

public sealed class LoadResultTests
{
    private const string Line =
        """{"ccu":2,"size":64,"inflight":30,"connect_ok":2,"connect_fail":0,"connect_s":0.004,"sent":900,"recv":899,"incomplete":1,"msgs_per_s":450,"p50_us":12,"p95_us":20,"p99_us":31,"p999_us":40,"max_us":55,"errors":0,"violations":0,"drain_timeout":1,"client_cpu_s":0.25,"result":"FAIL"}""";

    [Fact]
    public void The_line_of_a_load_generator_is_read()
    {
        LoadResult? result = LoadResult.Parse(Line, out string? fault);

        Assert.Null(fault);
        Assert.NotNull(result);
        Assert.Equal(450, result.MessagesPerSecond);
        Assert.Equal(0.004, result.ConnectSeconds);
        Assert.Equal((12, 31), (result.P50, result.P99));
        Assert.Equal(899, result.Received);
        Assert.False(result.Passed);
        Assert.Contains("1 replies missing", result.Describe(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("connection refused")]
    [InlineData("{\"result\":\"PASS\"")]
    [InlineData("{\"result\":\"PASS\"}")]
    public void A_line_that_is_no_result_is_a_fault_and_not_a_zero(string? line)
    {
        Assert.Null(LoadResult.Parse(line, out string? fault));
        Assert.False(string.IsNullOrEmpty(fault));
    }
}
