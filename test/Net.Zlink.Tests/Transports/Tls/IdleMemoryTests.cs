using System.Globalization;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Five thousand idle connections over tls, ws and wss: the memory of each side's process.</summary>
[Collection(Alone.Name)]
public sealed class IdleMemoryTests(ITestOutputHelper output)
{
    private const int Connections = 5_000;
    private const long Bar = 300L * 1024 * 1024;

    // A client of the base library that names its server by number has a context of OpenSSL's of its own, 13 KB: 339 and 350 MB measured.
    private const long NumberedBar = 400L * 1024 * 1024;

    // A descriptor per connection, and what a process has anyway.
    private const int Descriptors = Connections + 500;

    [SlowTheory] // 90 s for the four.
    [InlineData("tls", "localhost")]
    [InlineData("tls", "127.0.0.1")]
    [InlineData("ws", "localhost")]
    [InlineData("wss", "localhost")]
    public async Task Each_side_stays_under_300_MB_and_a_connecter_by_number_under_what_OpenSSL_takes(string scheme, string host)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && HardLimit() >= Descriptors,
            $"NOT TESTED HERE: takes Linux and {Descriptors} descriptors per process (ulimit -Hn)");
        await using ChildProcess listener = Programs.Child("listen", scheme).WithDescriptors(Descriptors).Start();
        string endpoint = (await listener.ReadLineAsync("READY "))["READY ".Length..].Replace("127.0.0.1", host, StringComparison.Ordinal);
        await using ChildProcess connecter = Programs.Child("connect", endpoint, Connections.ToString(CultureInfo.InvariantCulture))
            .WithDescriptors(Descriptors).Start();
        while (int.Parse((await connecter.ReadLineAsync("CONNECTED "))["CONNECTED ".Length..], CultureInfo.InvariantCulture) < Connections)
        {
            // One more round of them.
        }

        await AssertSmallAsync(listener, $"{scheme}, listening", Bar);
        await AssertSmallAsync(connecter, $"{scheme}, connecting to {host}", host is "localhost" ? Bar : NumberedBar);
        connecter.EndInput();
        listener.EndInput();
    }

    private static long HardLimit()
    {
        string line = File.ReadLines("/proc/self/limits").First(static line => line.StartsWith("Max open files", StringComparison.Ordinal));
        string hard = line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[4];
        return long.TryParse(hard, CultureInfo.InvariantCulture, out long limit) ? limit : long.MaxValue;
    }

    private async Task AssertSmallAsync(ChildProcess process, string what, long bar)
    {
        process.Send(Connections.ToString(CultureInfo.InvariantCulture));
        long[] numbers = [.. (await process.ReadLineAsync("MEMORY "))["MEMORY ".Length..].Split(' ')
            .Select(static n => long.Parse(n, CultureInfo.InvariantCulture))];
        output.WriteLine($"{what}: {numbers[0] / 1e6:0.0} MB resident, {numbers[1] / 1e6:0.0} MB of it managed, {numbers[2]} peers, "
            + $"{numbers[3]} buffers out");
        Assert.Equal(Connections, numbers[2]);
        Assert.InRange(numbers[0], 0, bar);
        Assert.InRange(numbers[3], 0, 100); // The shards', not the connections'.
    }
}
