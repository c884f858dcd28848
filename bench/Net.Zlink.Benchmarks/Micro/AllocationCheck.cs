using BenchmarkDotNet.Reports;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>Benchmarks of the category <see cref="Category"/> are a claim: they allocate nothing.</summary>
internal static class AllocationCheck
{
    public const string Category = "no-allocation";

    /// <summary>Says so, and returns true, if the claim does not hold.</summary>
    public static bool Report(BenchmarkReport report)
    {
        if (!report.Success || !report.BenchmarkCase.Descriptor.HasCategory(Category))
        {
            return false;
        }

        long? bytes = report.GcStats.GetBytesAllocatedPerOperation(report.BenchmarkCase);
        if (bytes is null or 0)
        {
            return false;
        }

        Console.WriteLine($"{report.BenchmarkCase.Descriptor.GetFilterName()} {report.BenchmarkCase.Parameters.DisplayInfo} allocated "
            + $"{bytes} bytes per operation: missed");
        return true;
    }
}
