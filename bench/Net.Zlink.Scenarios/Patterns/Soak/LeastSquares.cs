namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>The straight line that fits some points best.</summary>
internal static class LeastSquares
{
    /// <summary>How much y grows while x grows by 1; 0 where there are not two different x.</summary>
    public static double Slope(IReadOnlyCollection<(double X, double Y)> points)
    {
        if (points.Count == 0)
        {
            return 0;
        }

        double meanX = points.Average(static point => point.X);
        double meanY = points.Average(static point => point.Y);
        double spread = points.Sum(point => (point.X - meanX) * (point.X - meanX));
        return spread == 0 ? 0 : points.Sum(point => (point.X - meanX) * (point.Y - meanY)) / spread;
    }
}
