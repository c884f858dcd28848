using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using System.Text.RegularExpressions;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Tool.Commands;

/// <summary>
/// Finds out what speaks at an endpoint. It dials as a SUB without a subscription, which disturbs no peer: a socket of another type names
/// itself in its refusal, and a publisher does so to a PAIR.
/// </summary>
internal static partial class ProbeCommand
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(5);

    public static Command Create(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        return tool.Create("probe",
            "Says what speaks at an endpoint, with its certificate and the time of the handshake, or why nothing does.",
            """
              zlink probe tcp://127.0.0.1:5555
              zlink probe tls://example.com:5555 --ca ca.pem -t 2
            """,
            [options.Endpoint, options.Timeout, .. options.Tls],
            RunAsync, s_limit);
    }

    private static async Task RunAsync(CommandRun run)
    {
        var seen = new CertificateSeen();
        long started = Stopwatch.GetTimestamp();
        SocketEvent answer = await DialAsync(run, run.Context.CreateSub(Observed(run, new SubOptions(), seen))).ConfigureAwait(false);
        TimeSpan took = Stopwatch.GetElapsedTime(started);
        if (answer.Type is SocketEventTypes.ConnectionReady)
        {
            answer = await DialAsync(run, run.Context.CreatePair(Observed(run, new PairOptions(), seen))).ConfigureAwait(false);
        }

        foreach (string line in seen.Lines)
        {
            run.Out.WriteLine(line);
        }

        string why = answer.Detail ?? "";
        if (PeerType().Match(why) is not { Success: true } match)
        {
            throw new ToolException($"no zlink socket answers at {run.Endpoint}: {why}{Hint(answer, why)}");
        }

        run.Out.WriteLine($"speaks       ZMP, as a socket of the type {match.Groups["type"].Value}");
        run.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"handshake    {took.TotalMilliseconds:0.0} ms"));
    }

    /// <summary>Returns the event that ends the first attempt.</summary>
    private static async Task<SocketEvent> DialAsync(CommandRun run, ZmpSocket socket)
    {
        using ZmpSocket dialled = socket;
        IAsyncEnumerable<SocketEvent> events = socket.MonitorAsync(
            SocketEventTypes.ConnectionReady | SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectGivenUp, run.Token);
        socket.Connect(run.Endpoint);
        await foreach (SocketEvent one in events.ConfigureAwait(false))
        {
            return one;
        }

        throw new ToolException("the socket was closed; run the command again");
    }

    private static TOptions Observed<TOptions>(CommandRun run, TOptions options, CertificateSeen seen)
        where TOptions : ZmpSocketOptions
    {
        run.Secured(options);
        bool trusts = !options.Tls.VerifyPeer;
        options.Tls.Validation = (_, certificate, chain, errors) => seen.Add(certificate, chain, errors) || trusts;
        return options;
    }

    private static string Hint(SocketEvent answer, string why) =>
        answer.Type is SocketEventTypes.ConnectRetried && why.StartsWith("the handshake failed", StringComparison.Ordinal)
            ? ". A STREAM socket answers like this, too: try zlink stream"
            : "";

    [GeneratedRegex("the peer (?<type>[A-Z]+);", RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant, 1000)]
    private static partial Regex PeerType();

    private sealed class CertificateSeen
    {
        public List<string> Lines { get; } = [];

        public bool Add(X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
        {
            if (certificate is X509Certificate2 known)
            {
                string until = known.NotAfter.ToUniversalTime().ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);
                Lines.Clear();
                Lines.Add($"certificate  {known.Subject}, from {known.Issuer}, valid until {until}");
                string[] problems = [.. (chain?.ChainStatus ?? []).Select(static status => status.StatusInformation.Trim())];
                Lines.Add(errors is SslPolicyErrors.None
                    ? "trust        it is trusted"
                    : $"trust        it is not trusted: {string.Join(", ", problems.Prepend($"{errors}"))}");
            }

            return errors is SslPolicyErrors.None;
        }
    }
}
