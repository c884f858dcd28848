using Net.Zlink.Extensions.Hosting;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>The key Diagnostics of a context.</summary>
public sealed class DiagnosticsHostingTests
{
    private readonly string _file = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Diagnostics_are_open_while_the_host_runs_where_the_configuration_or_code_says(bool isInCode)
    {
        await using (HostFixture host = isInCode ? new HostFixture() : new HostFixture(("Diagnostics", $"ipc://{_file}")))
        {
            ZlinkBuilder builder = host.Services.AddZlink(host.Section);
            _ = isInCode ? builder.OpenDiagnostics($"ipc://{_file}") : builder;
            await host.StartAsync();
            Assert.True(File.Exists(_file));
        }

        Assert.False(File.Exists(_file));
    }

    [Fact]
    public async Task False_in_the_configuration_counts_more_than_code()
    {
        await using var host = new HostFixture(("Diagnostics", "False"));
        host.Services.AddZlink(host.Section).OpenDiagnostics($"ipc://{_file}");
        await host.StartAsync();
        Assert.False(File.Exists(_file));
    }

    [Theory]
    [InlineData("tcp://*:5999", "allowRemote")]
    [InlineData("nonsense", "tcp://host:port")]
    public async Task An_endpoint_that_is_refused_fails_the_start_with_its_key(string endpoint, string why)
    {
        await using var host = new HostFixture(("Diagnostics", endpoint));
        host.Services.AddZlink(host.Section);
        ZlinkSettingException fault = await Assert.ThrowsAsync<ZlinkSettingException>(host.StartAsync);
        Assert.Contains("Diagnostics: ", fault.Message, StringComparison.Ordinal);
        Assert.Contains(why, fault.Message, StringComparison.Ordinal);
    }
}
