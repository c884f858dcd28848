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
    Stopwatch watch = Stopwatch.StartNew();
    long returned = await PingPong.PlayAsync(given.GetValue(endpoint)!, count, cancellation).ConfigureAwait(false);
    watch.Stop();
    Console.WriteLine(FormattableString.Invariant($"{returned:N0} of {count:N0} balls came back with their number, {watch.Elapsed.TotalMicroseconds / count:0.0} us over and back"));
    return returned == count ? null : "a ball was lost";
}).ConfigureAwait(false);
