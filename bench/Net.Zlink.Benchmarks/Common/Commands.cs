using System.CommandLine;
using Net.Zlink.Benchmarks.Alloc;
using Net.Zlink.Benchmarks.Compare;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Benchmarks.Profile;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>The program's commands. Exit codes: 0 good, 1 a bar was missed or a run failed, 2 the request was wrong, 3 a bar lies within
/// the noise.</summary>
internal static class Commands
{
    public const int Failed = CommandLineProgram.Failed;
    public const int WrongRequest = CommandLineProgram.WrongRequest;
    public const int WithinNoise = 3;

    public static async Task<int> RunAsync(string[] args)
    {
        RootCommand root = MicroCommand.CreateRoot();
        root.Add(MicroCommand.Create());
        root.Add(AllocCommand.Create());
        root.Add(AllocChild.CreateServer());
        root.Add(AllocChild.CreateClient());
        root.Add(AllocChild.CreateSockets());
        root.Add(AllocChild.CreateFanout());
        root.Add(AllocChild.CreateServices());
        root.Add(AllocChild.CreateSpot());
        root.Add(CompareCommand.Create());
        root.Add(ProfileCommand.Create());
        return await CommandLineProgram.RunAsync(root, args);
    }
}
