using System.CommandLine;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>Peers that attack one port until the standard input ends.</summary>
internal static class AttackerCommand
{
    public const string Name = "attacker";
    public const string Started = "STARTED";
    public const string Did = "DID ";

    public static Command Create()
    {
        var kind = new Option<string>("--kind") { Description = $"{StalledPeers.Kind}, or a flood.", Required = true };
        var transport = new Option<string>("--transport") { Description = "tcp, tls, ws or wss.", Required = true };
        var port = new Option<int>("--port") { Description = "Of this machine.", Required = true };
        var count = new Option<int>("--count") { Description = "How many peers.", Required = true };
        var command = new Command(Name, "Peers that attack one port until the standard input ends; 'attack' runs it.");
        foreach (Option option in new Option[] { kind, transport, port, count })
        {
            command.Add(option);
        }

        command.SetAction(async (request, cancellation) =>
        {
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
            int peers = request.GetValue(count);
            Task<long> attack = request.GetValue(kind) is StalledPeers.Kind
                ? StalledPeers.RunAsync(request.GetValue(transport)!, request.GetValue(port), peers, SayStarted, stop.Token)
                : FloodPeers.RunAsync(request.GetValue(transport)!, request.GetValue(kind)!, request.GetValue(port), peers, SayStarted,
                    stop.Token);
            await Task.WhenAny(attack, Console.In.ReadToEndAsync(cancellation));
            await stop.CancelAsync();
            Console.WriteLine($"{Did}{await attack}");
            return 0;
        });
        return command;
    }

    private static void SayStarted() => Console.WriteLine(Started);
}
