using Net.Zlink.Scenarios.Tests.Support;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns;

public sealed class JoiningDiscoveriesTests
{
    [Fact]
    public async Task Twenty_discoveries_that_join_at_once_cost_one_list_each_and_the_processor_time_of_the_registry_alone_is_told()
    {
        (_, string output, string errors) = await Runs.ProgramAsync("joining", "--entries", "500", "--joining", "20");

        string[] lines = output.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        Assert.True(lines.Length == 2, output + errors);
        Assert.Equal("RESULT,net-zlink,REGISTRY_JOIN,tcp,0,lists_each,1.00", lines[0]);
        Assert.StartsWith("RESULT,net-zlink,REGISTRY_JOIN,tcp,0,cpu_seconds,", lines[1], StringComparison.Ordinal);
    }
}
