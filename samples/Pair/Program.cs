using System.CommandLine;
using System.Diagnostics;
using Samples;
using Samples.Pair;

Option<int> rounds = Sample.Number("--rounds", "How many times the ball goes over and back", 10_000, 1, 100_000_000);
Option<string> endpoint = Sample.Endpoint();
var command = new RootCommand("Two PAIR sockets play ping-pong with one message, and count that none is lost.") { rounds, endpoint };

return await Sample.RunAsync("Pair", command, args, async (given, cancellation) =>
{
    int count = given.GetValue(rounds);
    var game = new PingPong(given.GetValue(endpoint)!, count, Console.Out);
    Stopwatch watch = Stopwatch.StartNew();
    try
    {
        await game.PlayAsync(cancellation).ConfigureAwait(false);
    }
    catch (OperationCanceledException)
    {
        Tell();
        throw;
    }

    Tell();
    return game.Returned == count ? null : "a ball was lost";

    void Tell()
    {
        double microseconds = watch.Elapsed.TotalMicroseconds / Math.Max(1, game.Returned);
        Console.WriteLine(FormattableString.Invariant(
            $"{game.Returned:N0} of {count:N0} balls came back with their number, {microseconds:0.0} us over and back"));
    }
}).ConfigureAwait(false);
