using System.CommandLine;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Profile;

namespace Net.Zlink.Scenarios.Evidence;

/// <summary>Prints what a trace says.</summary>
internal static class ProfileCommand
{
    public static Command Create()
    {
        var file = new Argument<FileInfo>("file") { Description = "A .nettrace, as --trace writes it." };
        var top = new Option<int>("--top") { Description = "Rows per table.", DefaultValueFactory = _ => 30 };
        var find = new Option<string?>("--find")
        {
            Description =
            "Also show who calls, and what is called by, the methods whose name contains this text."
        };
        var command = new ExampleCommand(
            "profile",
            "Prints the top methods of a trace (exclusive and inclusive), collections and pauses, lock contention with its places, the "
                + "thread pool, exceptions.",
            "dotnet run -c Release --project bench/Net.Zlink.Scenarios -- s2 --stack net-zlink --rounds 1 --trace s2.nettrace",
            "dotnet run -c Release --project bench/Net.Zlink.Scenarios -- profile s2.nettrace --find TrySend");
        command.Add(file);
        command.Add(top.AtLeast(1));
        command.Add(find);
        command.SetAction(request =>
        {
            FileInfo trace = request.GetValue(file)!;
            if (!trace.Exists)
            {
                throw new RequestException($"There is no file {trace.FullName}.");
            }

            TraceReport.Print(TraceReader.Read(trace, request.GetValue(find)), request.GetValue(top));
        });
        return command;
    }
}
