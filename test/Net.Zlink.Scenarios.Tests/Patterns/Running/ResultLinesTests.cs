using System.Globalization;
using Net.Zlink.Scenarios.Patterns.Running;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns.Running;

public sealed class ResultLinesTests
{
    [Fact]
    public void A_line_of_ours_and_one_of_a_native_program_are_read()
    {
        Assert.True(ResultLines.TryParse("RESULT,net-zlink,PAIR,tcp,64,throughput,10270000.25", out ResultLine? ours));
        Assert.Equal(new ResultLine("net-zlink", "PAIR", "tcp", 64, ResultLines.Throughput, 10_270_000.25), ours);
        Assert.True(ResultLines.TryParse("RESULT,current,ROUTER_ROUTER_POLL,inproc,262144,latency,12.35", out ResultLine? native));
        Assert.Equal(new ResultLine("current", "ROUTER_ROUTER_POLL", "inproc", 262_144, ResultLines.Latency, 12.35), native);
    }

    [Fact]
    public void A_result_line_reads_back_as_it_was_written_in_every_culture()
    {
        var line = new ResultLine("net-zlink-batch", "MULTI_DEALER_ROUTER", "wss", 65_536, ResultLines.Latency, 1234.5);
        CultureInfo before = CultureInfo.CurrentCulture;
        try
        {
            // A comma in the figure would be a field more.
            CultureInfo.CurrentCulture = new CultureInfo("") { NumberFormat = { NumberDecimalSeparator = "," } };
            Assert.Equal("RESULT,net-zlink-batch,MULTI_DEALER_ROUTER,wss,65536,latency,1234.50", line.ToString());
            Assert.True(ResultLines.TryParse(line.ToString(), out ResultLine? read));
            Assert.Equal(line, read);
        }
        finally
        {
            CultureInfo.CurrentCulture = before;
        }
    }

    [Theory]
    [InlineData("")]
    [InlineData("RESULT")]
    [InlineData("RESULT,net-zlink,PAIR,tcp,64,throughput")]
    [InlineData("RESULT,net-zlink,PAIR,tcp,64,throughput,1,2")]
    [InlineData("RESULT,net-zlink,PAIR,tcp,many,throughput,1")]
    [InlineData("RESULT,net-zlink,PAIR,tcp,64,throughput,fast")]
    [InlineData("RESULT,net-zlink,PAIR,tcp,64,throughput,NaN")]
    [InlineData("RESULT,net-zlink,PAIR,tcp,64,throughput,Infinity")]
    [InlineData("result,net-zlink,PAIR,tcp,64,throughput,1")]
    [InlineData("RESULT scenario=s2 transport=tcp")]
    public void Anything_else_is_not_a_figure(string line) => Assert.False(ResultLines.TryParse(line, out _));

    [Fact]
    public void A_native_program_that_could_not_measure_prints_0_which_is_no_figure() =>
        Assert.False(ResultLines.TryParse("RESULT,current,STREAM,tcp,64,throughput,0.00", out _));
}
